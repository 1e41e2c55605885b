#include "tapehead/text/writer.h"

#include <algorithm>

#include "support/models.h"
#include "support/testing.h"
#include "tapehead/nn/edits.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

using Ids = std::vector<std::int32_t>;

constexpr Index kContext = 8;
const Transformer kModel =
    random_model({.vocabulary = 11, .context = kContext, .width = 8, .heads = 2, .layers = 2});

/// The last position's logits of the last `context` tokens, read at once.
std::vector<Real> logits_after(const Ids& text, const Watch& watch = {}) {
  const Index length = std::min(kContext, static_cast<Index>(text.size()));
  const Tokens tokens(1, length, Ids(text.end() - length, text.end()));
  const Variable logits = kModel(Pass().watched_by(watch), tokens);
  return {logits.data() + (length - 1) * 11, logits.data() + length * 11};
}

Ids written(Writer writer, int tokens) {
  for (int i = 0; i < tokens; ++i) writer.next();
  return writer.text();
}

}  // namespace

TEST_CASE("every token is chosen by the logits of the text before it, within the context and beyond") {
  Writer writer(kModel, {1, 2, 3});
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    const std::vector<Real> expected = logits_after(writer.text());
    writer.next();
    REQUIRE(writer.logits().size() == 11);
    for (std::size_t id = 0; id < 11; ++id)
      CHECK(std::abs(static_cast<double>(writer.logits()[id] - expected[id])) <= 1e-5);
  }
  CHECK(writer.text().size() == 23);
}

TEST_CASE("at temperature zero the writer takes the largest logit, whatever the seed") {
  const WriterConfig greedy{.sampling = {.temperature = 0}, .seed = 1};
  Ids expected{4};
  for (int i = 0; i < 12; ++i) {
    const std::vector<Real> logits = logits_after(expected);
    expected.push_back(static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin()));
  }
  CHECK(written(Writer(kModel, {4}, greedy), 12) == expected);
  CHECK(written(Writer(kModel, {4}, {.sampling = {.temperature = 0}, .seed = 2}), 12) == expected);
}

TEST_CASE("equal seeds write equal texts, and others another") {
  const Ids first = written(Writer(kModel, {4}, {.seed = 5}), 30);
  CHECK(written(Writer(kModel, {4}, {.seed = 5}), 30) == first);
  CHECK(written(Writer(kModel, {4}, {.seed = 6}), 30) != first);
}

TEST_CASE("a prompt as long as the context, or longer, is read from its end") {
  for (const int length : {7, 8, 9, 30}) {
    CAPTURE(length);
    Ids prompt;
    for (int i = 0; i < length; ++i) prompt.push_back(i * 7 % 11);
    Writer writer(kModel, prompt);
    const std::vector<Real> expected = logits_after(prompt);
    writer.next();
    for (std::size_t id = 0; id < 11; ++id)
      CHECK(std::abs(static_cast<double>(writer.logits()[id] - expected[id])) <= 1e-5);
    CHECK(writer.text().size() == prompt.size() + 1);
  }
}

TEST_CASE("tokens beyond the text's vocabulary are never written, though the model has them") {
  const Ids text = written(Writer(kModel, {1}, {.vocabulary = 3}), 200);
  CHECK(std::ranges::all_of(text, [](std::int32_t id) { return id < 3; }));
  Writer writer(kModel, {1}, {.vocabulary = 3});
  writer.next();
  CHECK(writer.logits().size() == 3);
}

TEST_CASE("a writer's model can be edited as it writes") {
  Edits edits;
  edits.zero(head_output(0, 1));
  Writer writer(kModel, {1, 2}, {}, {edits});
  for (int i = 0; i < 12; ++i) {
    const std::vector<Real> expected = logits_after(writer.text(), {edits});
    writer.next();
    for (std::size_t id = 0; id < 11; ++id)
      CHECK(std::abs(static_cast<double>(writer.logits()[id] - expected[id])) <= 1e-5);
  }
}

TEST_CASE("a prompt without tokens, foreign tokens and wrong settings are refused") {
  CHECK(failure_of([] { Writer(kModel, {}); }) == "[writer] expected a prompt of at least one token");
  CHECK(failure_of([] {
          Writer(kModel, {1, 11});
        }) == "[writer] expected token ids between 0 and 10, got 11");
  CHECK(failure_of([] { Writer(kModel, {-1}); }) == "[writer] expected token ids between 0 and 10, got -1");
  CHECK(failure_of([] { Writer(kModel, {1}, {.vocabulary = 12}); }) ==
        "[writer] expected a vocabulary of 1 to the model's 11, got 12");
  CHECK(complaint_of([] { Writer(kModel, {1}, {.sampling = {.top_p = 2}}); }) ==
        "[sampling] expected a top-p above 0 and at most 1, got 2");
}
