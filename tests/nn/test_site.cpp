#include "tapehead/nn/site.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "support/testing.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

const ModelConfig kAttentionOnly{.heads = 2, .layers = 2};
const ModelConfig kFull{.heads = 3, .layers = 1, .feed_forward = 8};

std::vector<std::string> names_of(const ModelConfig& config) {
  std::vector<std::string> names;
  for (const Site& site : sites_of(config)) names.push_back(to_string(site));
  return names;
}

}  // namespace

TEST_CASE("a model's sites are listed in the order of a forward pass") {
  CHECK(names_of(kFull) ==
        std::vector<std::string>{"embedding", "blocks.0.residual_before", "blocks.0.attention.queries",
                                 "blocks.0.attention.keys", "blocks.0.attention.values",
                                 "blocks.0.attention.pattern", "blocks.0.attention.head_output",
                                 "blocks.0.attention.output", "blocks.0.feed_forward.output",
                                 "blocks.0.residual_after", "final_residual", "logits"});
  CHECK(sites_of(kAttentionOnly).size() == 3 + 2 * 8);
  CHECK(sites_of({.layers = 0}) == std::vector<Site>{embedding_site(), final_residual(), logits_site()});
}

TEST_CASE("every site is found again by its name, and so is every head of it") {
  for (const ModelConfig& config : {kAttentionOnly, kFull})
    for (const Site& site : sites_of(config)) CHECK(parse_site(to_string(site)) == site);
  for (const Site& site : {queries(0, 1), keys(1, 0), values(10, 2), pattern(3, 11), head_output(1, 0)})
    CHECK(parse_site(to_string(site)) == site);
  CHECK(to_string(head_output(1, 0)) == "blocks.1.attention.head_output[0]");
  CHECK(fmt::format("{}", pattern(0, 1)) == "blocks.0.attention.pattern[1]");
}

TEST_CASE("a name that is no site gets the nearest one for an answer") {
  CHECK_THROWS_WITH_AS(
      parse_site("blocks.0.attention.head_ouptut"),
      "[site] no site blocks.0.attention.head_ouptut; the nearest is blocks.0.attention.head_output", Error);
  CHECK_THROWS_WITH_AS(parse_site("logit"), "[site] no site logit; the nearest is logits", Error);
  for (const char* name :
       {"", "blocks", "blocks.", "blocks.0", "blocks.0.", "blocks.x.residual_after",
        "blocks.-1.residual_after", "blocks.0.logits", "attention.pattern", "logits[0]",
        "blocks.0.attention.output[0]", "blocks.0.attention.pattern[", "blocks.0.attention.pattern[]",
        "blocks.0.attention.pattern[-1]", "blocks.0.attention.pattern[0]x", "blocks.0.attention.pattern.0",
        "blocks.99999999999999999999.residual_after"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(parse_site(name), Error);
  }
}

TEST_CASE("a site that this model does not have is refused with a list of those it has") {
  for (const ModelConfig& config : {kAttentionOnly, kFull})
    for (const Site& site : sites_of(config)) CHECK_NOTHROW(require_site(site, config));
  std::string list;
  for (const std::string& name : names_of(kAttentionOnly)) list += "\n  " + name;
  CHECK_THROWS_WITH_AS(require_site(feed_forward_output(0), kAttentionOnly),
                       ("[site] this model has no site blocks.0.feed_forward.output; it has" + list).c_str(),
                       Error);
  CHECK_THROWS_AS(require_site(head_output(2), kAttentionOnly), Error);
  CHECK_THROWS_AS(require_site(head_output(-1), kAttentionOnly), Error);
  CHECK_THROWS_AS(require_site({SiteKind::logits, 0, kAllHeads}, kAttentionOnly), Error);
}

TEST_CASE("a head that this model does not have is refused with the range of those it has") {
  CHECK_NOTHROW(require_site(head_output(1, 1), kAttentionOnly));
  CHECK_THROWS_WITH_AS(require_site(head_output(1, 2), kAttentionOnly),
                       "[site] expected a head between 0 and 1, got blocks.1.attention.head_output[2]",
                       Error);
  CHECK_THROWS_AS(require_site(head_output(1, -2), kAttentionOnly), Error);
  CHECK_THROWS_WITH_AS(require_site({SiteKind::residual_after, 0, 0}, kAttentionOnly),
                       "[site] blocks.0.residual_after has no heads", Error);
}

TEST_CASE("the tiled attention has no pattern site, and says which setting has it") {
  ModelConfig config = kFull;
  config.attention = AttentionForm::tiled;
  const std::vector<Site> sites = sites_of(config);
  CHECK(std::find(sites.begin(), sites.end(), pattern(0)) == sites.end());
  CHECK(sites.size() + 1 == sites_of(kFull).size());
  CHECK_THROWS_WITH_AS(
      require_site(pattern(0, 1), config),
      "[site] blocks.0.attention.pattern is never held by the tiled attention of this model; "
      "set model.attention to pattern, which holds it and changes no parameter",
      Error);
}

}  // namespace tapehead
