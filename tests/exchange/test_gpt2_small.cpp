/// GPT-2 small, for whoever has its file: $TAPEHEAD_REFERENCE_DATA/gpt2 with config.json and
/// model.safetensors. What others published of it is in gpt2-reference beside it.
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "exchange/foreign.h"
#include "support/reference.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/exchange/gpt2.h"
#include "tapehead/text/writer.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

using Ids = std::vector<std::int32_t>;

struct Gpt2Small {
  Transformer model;
  std::filesystem::path reference;
  nlohmann::json published;
};

/// Nothing where a file is not there; the test is then to return.
std::optional<Gpt2Small> gpt2_small() {
  const auto folder = reference_data("gpt2/model.safetensors");
  const auto reference = folder ? reference_data("gpt2-reference") : std::nullopt;
  if (!reference) return std::nullopt;
  return Gpt2Small{import_gpt2(*folder).model, *reference,
                   nlohmann::json::parse(std::ifstream(*reference / "gpt2_small_published.json"))};
}

Tensor logits_of(const Transformer& model, const Ids& ids, const Watch& watch = {}) {
  return model(Pass().watched_by(watch), Tokens(1, std::ssize(ids), ids)).value();
}

Index likeliest(const Tensor& logits, Index position) {
  const Index vocabulary = logits.shape()[2];
  const Real* row = logits.data() + position * vocabulary;
  return std::max_element(row, row + vocabulary) - row;
}

}  // namespace

TEST_CASE(
    "in GPT-2 small head 11 of layer 4 looks one token back, and head 1 of layer 5 after the earlier copy") {
  const auto gpt2 = gpt2_small();
  if (!gpt2) return;
  const nlohmann::json& text = gpt2->published.at("seed_000");
  Onlooker onlooker;
  const Tensor logits = logits_of(gpt2->model, text.at("ids"), {onlooker});
  const Tensor previous = onlooker.seen_at(pattern(4));
  const Tensor induction = onlooker.seen_at(pattern(5));
  // Two decimals were published.
  for (Index query = 1; query < previous.shape()[2]; ++query)
    CHECK(std::abs(static_cast<double>(previous(0, 11, query, query - 1)) - 1) <= 0.005);
  for (const nlohmann::json& weight : text.at("L5H1"))
    CHECK(std::abs(static_cast<double>(
                       induction(0, 1, weight.at("query").get<Index>(), weight.at("key").get<Index>())) -
                   weight.at("w").get<double>()) <= 0.0051);
  for (const nlohmann::json& next : text.at("top1_next"))
    CHECK(likeliest(logits, next.at("pos")) == next.at("id").get<Index>());
}

TEST_CASE("in GPT-2 small the attention patterns of two texts are those that TransformerLens published") {
  const auto gpt2 = gpt2_small();
  if (!gpt2) return;
  const SafetensorsFile archive(gpt2->reference / "tl_head_detector_attn.safetensors");
  for (const std::string text : {"textA", "textB"}) {
    Onlooker onlooker;
    logits_of(gpt2->model, read_ids(gpt2->reference / "tl_head_detector_attn.safetensors", text + ".ids"),
              {onlooker});
    for (const Index layer : {0, 2, 4, 5}) {
      const std::string name = fmt::format("{}.layer{}.attn", text, layer);
      if (!archive.contains(name)) continue;
      const Tensor expected = archive.read(name);
      check_within(onlooker.seen_at(pattern(layer)).reshaped(expected.shape()), expected, 1e-4);
    }
  }
}

TEST_CASE("GPT-2 small has the published loss and logits, and goes on with a prompt as published") {
  const auto gpt2 = gpt2_small();
  if (!gpt2) return;
  const nlohmann::json& loss = gpt2->published.at("transformerlens_loss");
  const Ids ids = loss.at("ids_with_bos");
  const Variable logits =
      gpt2->model(Pass(), Tokens(1, std::ssize(ids) - 1, Ids(ids.begin(), ids.end() - 1)));
  const Variable mean =
      cross_entropy(logits, Tokens(1, std::ssize(ids) - 1, Ids(ids.begin() + 1, ids.end())));
  CHECK(std::abs(static_cast<double>(mean.item()) - loss.at("mean_ce").get<double>()) <=
        loss.at("tol").get<double>());

  const nlohmann::json& slice = gpt2->published.at("bumblebee_logits");
  const Tensor all = logits_of(gpt2->model, slice.at("ids"));
  for (Index position = 1; position < 4; ++position)
    for (Index id = 1; id < 4; ++id) {
      const double expected =
          slice.at("values")[static_cast<std::size_t>(position - 1)][static_cast<std::size_t>(id - 1)];
      CHECK(std::abs(static_cast<double>(all(0, position, id)) - expected) <= slice.at("atol").get<double>());
    }

  const nlohmann::json& greedy = gpt2->published.at("hf_greedy");
  const Ids expected = greedy.at("output_ids");
  Writer writer(gpt2->model, greedy.at("prompt_ids"), {.sampling = {.temperature = 0}});
  while (writer.text().size() < expected.size()) writer.next();
  CHECK(writer.text() == expected);
}
