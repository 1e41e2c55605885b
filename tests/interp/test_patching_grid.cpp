#include "tapehead/interp/patching_grid.h"

#include "support/models.h"
#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

std::vector<std::string> names_of(const PatchingGrid& grid, const ModelConfig& config) {
  std::vector<std::string> names;
  for (const Site& site : sites_of(grid, config)) names.push_back(to_string(site));
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a receiver is a head, one of the three things it reads, or the logits") {
  const ModelConfig config = attention_only();
  CHECK(parse_receiver("1.0", config).sites == std::vector{queries(1, 0), keys(1, 0), values(1, 0)});
  CHECK(parse_receiver("1.0.queries", config).sites == std::vector{queries(1, 0)});
  CHECK(parse_receiver("0.1.keys", config).sites == std::vector{keys(0, 1)});
  CHECK(parse_receiver("1.1.values", config).sites == std::vector{values(1, 1)});
  CHECK(parse_receiver("logits", config).sites == std::vector{logits_site()});
  CHECK(parse_receiver("1.0.keys", config).name == "1.0.keys");
  for (const std::string text : {"", "1", "1.", "1.0.", "1.0.key", "2.0", "0.2", "-1.0", "1.0x", "1.0.keys ",
                                 "logit", "1.0.keys.keys", "99999999999999999999.0"}) {
    CAPTURE(text);
    CHECK(complaint_of([&] { parse_receiver(text, config); }).find("expected a receiver LAYER.HEAD") !=
          std::string::npos);
  }
}

TEST_CASE("sites and ways of patching have names, and a wrong one is told the nearest") {
  for (const std::string name :
       {"head_output", "queries", "keys", "values", "pattern", "attention_output", "residual"})
    CHECK(patch_site_name(parse_patch_site(name)) == name);
  for (const std::string name : {"layer", "head", "position", "head-position"})
    CHECK(patch_by_name(parse_patch_by(name)) == name);
  CHECK(parse_patch_site("residual") == SiteKind::residual_before);
  CHECK(complaint_of([] { parse_patch_site("head_ouput"); }).find("the nearest is head_output") !=
        std::string::npos);
  CHECK(complaint_of([] { parse_patch_by("heads"); }).find("the nearest is head") != std::string::npos);
}

TEST_CASE("a grid has the places below its receiver, the stream before a block being below that block") {
  const ModelConfig config = attention_only();
  const auto to = [&](const char* name) { return parse_receiver(name, config); };
  CHECK(names_of({}, config) == Names{"blocks.0.attention.head_output", "blocks.1.attention.head_output"});
  CHECK(names_of({.to = to("1.0.keys")}, config) == Names{"blocks.0.attention.head_output"});
  CHECK(names_of({.to = to("logits")}, config).size() == 2);
  const PatchingGrid residual{.site = SiteKind::residual_before, .by = PatchBy::position};
  CHECK(names_of(residual, config) ==
        Names{"blocks.0.residual_before", "blocks.1.residual_before", "final_residual"});
  PatchingGrid sent = residual;
  sent.to = to("0.1");
  CHECK(names_of(sent, config) == Names{"blocks.0.residual_before"});
  sent.to = to("1.1");
  CHECK(names_of(sent, config) == Names{"blocks.0.residual_before", "blocks.1.residual_before"});
  sent.to = to("logits");
  sent.layer = 2;
  CHECK(names_of(sent, config) == Names{"final_residual"});
}

TEST_CASE("the usual grids take heads and positions together only where heads are few") {
  ModelConfig config = attention_only();
  const auto second = [&] { return usual_grids(config).at(1).by; };
  config.layers = 8;
  CHECK(second() == PatchBy::head_position);
  config.layers = 9;
  CHECK(second() == PatchBy::position);
  for (const PatchingGrid& grid : usual_grids(config)) CHECK_FALSE(sites_of(grid, config).empty());
}

TEST_CASE("a grid that the model does not have, or that lies at or above its receiver, is refused") {
  const ModelConfig config = attention_only();
  const auto complaint = [&](const PatchingGrid& grid) {
    return complaint_of([&] { sites_of(grid, config); });
  };
  const auto says = [](const std::string& text, const char* part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  for (const SiteKind site : {SiteKind::residual_before, SiteKind::attention_output})
    for (const PatchBy by : {PatchBy::head, PatchBy::head_position})
      says(complaint({.site = site, .by = by}), "has no heads");
  says(complaint({.layer = 2}), "expected a layer from 0 to 1, got 2");
  says(complaint({.layer = -1}), "expected a layer from 0 to 1, got -1");
  says(complaint({.site = SiteKind::residual_before, .by = PatchBy::layer, .layer = 3}),
       "from 0 to 2 (the final residual)");
  says(complaint({.to = parse_receiver("0.1", config)}), "no head_output lies below the receiver 0.1");
  says(complaint({.to = parse_receiver("1.0.keys", config), .layer = 1}),
       "no head_output of layer 1 lies below the receiver 1.0.keys");
  ModelConfig empty = config;
  empty.layers = 0;
  says(complaint_of([&] { sites_of({}, empty); }), "no layers");
}
