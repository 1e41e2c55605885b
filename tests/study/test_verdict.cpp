#include "tapehead/study/verdict.h"

#include <algorithm>

#include "support/induction_model.h"
#include "support/models.h"
#include "tapehead/base/require.h"
#include "tapehead/tasks/repeated_sequence.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

const Evidence& find(const Verdict& verdict, const std::string& name) {
  const auto found = std::ranges::find(verdict.evidence, name, &Evidence::name);
  REQUIRE(found != verdict.evidence.end());
  return *found;
}

Batch drawn(const Task& task) {
  Generator generator(1, Purpose::evaluation);
  return task.sample(generator, 16);
}

constexpr Index kVocabulary = 20;
constexpr Index kLength = 24;

const RepeatedSequence kTask(
    {.vocabulary = kVocabulary, .length = kLength, .period_min = 4, .period_max = 8});

Verdict judged(const Transformer& model, const Transformer* twin = nullptr) {
  return judge(model, kTask, drawn(kTask), twin, {.sequences = 16});
}

ModelConfig config_of(Index layers) {
  return {.vocabulary = kVocabulary, .context = kLength, .width = 16, .heads = 2, .layers = layers};
}

}  // namespace

TEST_CASE("a perfect induction circuit, set by hand, is an induction model by every piece of evidence") {
  const Transformer model = perfect_induction_model(kVocabulary, kLength, 5);
  const Transformer twin = random_model(config_of(1));
  const Verdict verdict = judged(model, &twin);
  CHECK(verdict.mechanism == Mechanism::induction);
  for (const Evidence& evidence : verdict.evidence) {
    CAPTURE(evidence.name);
    CHECK(evidence.is_measured());
    CHECK(evidence.holds());
  }
  CHECK(finding(find(verdict, "induction_score")).find("head 1.0") != std::string::npos);
  CHECK(finding(find(verdict, "previous_token_score")).find("head 0.0") != std::string::npos);
  CHECK(sentence(verdict).find("cannot do this") != std::string::npos);
}

TEST_CASE("without a twin the verdict stands on the rest, and says what was not checked") {
  const Verdict verdict = judged(perfect_induction_model(kVocabulary, kLength, 5));
  CHECK(verdict.mechanism == Mechanism::induction);
  CHECK_FALSE(find(verdict, "accuracy_of_twin").is_measured());
  CHECK(sentence(verdict).find("was not checked") != std::string::npos);
}

TEST_CASE("a twin that copies at periods it never saw takes the verdict away") {
  const Transformer model = perfect_induction_model(kVocabulary, kLength, 5);
  CHECK(judged(model, &model).mechanism == Mechanism::other);
}

TEST_CASE("a model that copies without a previous-token head below is no induction model") {
  Transformer model = perfect_induction_model(kVocabulary, kLength, 5);
  const Verdict with = judged(model);
  CHECK(with.mechanism == Mechanism::induction);
  const Parameter qkv = model.parameters().find("blocks.0.attention.qkv.weight");
  std::fill_n(model.parameters().change().data() + qkv.offset, qkv.shape.count(), Real{0});
  const Verdict without = judged(model);
  CHECK(without.mechanism != Mechanism::induction);
  CHECK_FALSE(find(without, "previous_token_score").holds());
}

TEST_CASE("an untrained model has learnt nothing") {
  const Transformer model(config_of(2), 1);
  const Verdict verdict = judged(model);
  CHECK(verdict.mechanism == Mechanism::none);
  CHECK_FALSE(find(verdict, "learnt").holds());
  CHECK(sentence(verdict).find("no better than chance") != std::string::npos);
}

TEST_CASE("guessing among two tokens is not copying") {
  const RepeatedSequence task({.vocabulary = 2, .length = kLength, .period_min = 4, .period_max = 8});
  const Transformer model({.vocabulary = 2, .context = kLength, .width = 16, .heads = 2, .layers = 2}, 1);
  const Verdict verdict = judge(model, task, drawn(task), nullptr, {.sequences = 16});
  CHECK(verdict.mechanism == Mechanism::none);
  CHECK(find(verdict, "accuracy_untrained").threshold == doctest::Approx(0.75));
}

TEST_CASE("sequences that leave no period to probe get no verdict") {
  const FixedPeriodSequence task({.vocabulary = 5, .length = 2, .period = 1});
  const Transformer model({.vocabulary = 5, .context = 2, .width = 4, .heads = 1, .layers = 2}, 1);
  CHECK_THROWS_WITH_AS(judge(model, task, drawn(task), nullptr, {}), doctest::Contains("no period to probe"),
                       UsageError);
}

TEST_CASE("models without layers, or with one, get a verdict too") {
  for (const Index layers : {0, 1}) {
    const Verdict verdict = judged(Transformer(config_of(layers), 1));
    CHECK(verdict.mechanism == Mechanism::none);
    CHECK(finding(find(verdict, "induction_score")) == "no head in a layer after the first");
    CHECK_FALSE(find(verdict, "induction_score").holds());
    CHECK_FALSE(find(verdict, "accuracy_without").holds());
  }
}

TEST_CASE("a verdict is the same for any number of threads, and its table has a row a piece of evidence") {
  const Transformer model = perfect_induction_model(kVocabulary, kLength, 5);
  const Verdict one =
      judge(model, kTask, drawn(kTask), nullptr, {.evaluate = {.threads = 1}, .sequences = 9});
  const Verdict three =
      judge(model, kTask, drawn(kTask), nullptr, {.evaluate = {.threads = 3}, .sequences = 9});
  const CsvTable table = verdict_table(one, 7, 9);
  const CsvTable other = verdict_table(three, 7, 9);
  REQUIRE(table.rows() == static_cast<Index>(one.evidence.size()));
  for (Index row = 0; row < table.rows(); ++row) {
    const Evidence& evidence = one.evidence[static_cast<std::size_t>(row)];
    for (const std::string& column : table.columns())
      CHECK(table.cell(row, column) == other.cell(row, column));
    CHECK(table.cell(row, "evidence") == evidence.name);
    CHECK(table.cell(row, "value") == csv_cell(evidence.value));
    CHECK(table.cell(row, "holds") == (!evidence.is_measured() ? "" : evidence.holds() ? "yes" : "no"));
    CHECK(table.cell(row, "verdict") == "induction");
    CHECK(table.cell(row, "step") == "7");
    CHECK(table.cell(row, "sequences") == "9");
  }
}
