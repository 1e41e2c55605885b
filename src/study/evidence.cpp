#include "tapehead/study/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

constexpr std::array kMechanisms{Mechanism::induction, Mechanism::positional, Mechanism::other,
                                 Mechanism::none};

std::string list(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} and {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::string periods_of(const Evidence& evidence) {
  std::vector<std::string> words;
  for (const Index period : evidence.periods) words.push_back(std::to_string(period));
  return (words.size() == 1 ? "period " : "periods ") + list(words);
}

std::string heads_of(const Evidence& evidence) {
  std::vector<std::string> words;
  for (const std::string& head : evidence.heads) words.push_back("head " + head);
  return list(words);
}

/// A kind of evidence in words, and what is said where there was nothing to measure.
struct Wording {
  std::string_view name;
  std::string (*measured)(const Evidence& evidence);
  std::string_view otherwise;
};

std::string learnt(const Evidence&) { return "nats by which the loss on its own task is below chance"; }
std::string accuracy_trained(const Evidence& e) {
  return fmt::format("accuracy on induction positions at {}, which it was trained on", periods_of(e));
}
std::string accuracy_untrained(const Evidence& e) {
  return fmt::format("accuracy on induction positions at {}, which it never saw", periods_of(e));
}
std::string induction_score(const Evidence& e) {
  return fmt::format("induction score of {} at those periods", heads_of(e));
}
std::string copying(const Evidence&) { return "share of tokens that its weights copy (full OV, top 1)"; }
std::string previous_token_score(const Evidence& e) {
  return fmt::format("previous-token score of {}", heads_of(e));
}
std::string accuracy_without(const Evidence& e) {
  return fmt::format("share of that accuracy left with {} zeroed and later values held", heads_of(e));
}
std::string accuracy_of_twin_trained(const Evidence&) {
  return "accuracy of its one-layer twin at periods both were trained on";
}
std::string accuracy_of_twin(const Evidence&) {
  return "accuracy of its one-layer twin at periods neither ever saw";
}

constexpr std::string_view kNoTwin = "no one-layer twin to compare with";
constexpr std::array<Wording, 9> kWordings{{
    {"learnt", learnt, ""},
    {"accuracy_trained", accuracy_trained, ""},
    {"accuracy_untrained", accuracy_untrained, ""},
    {"induction_score", induction_score, "no head in a layer after the first"},
    {"copying", copying, "no such head to copy with"},
    {"previous_token_score", previous_token_score, "no head in a layer before an induction head"},
    {"accuracy_without", accuracy_without, "no previous-token head to take out"},
    {"accuracy_of_twin_trained", accuracy_of_twin_trained, kNoTwin},
    {"accuracy_of_twin", accuracy_of_twin, kNoTwin},
}};

/// Whether there was something to measure.
bool had_a_subject(const Evidence& evidence, const Wording& wording) {
  if (wording.otherwise == kNoTwin) return evidence.is_measured();
  return wording.otherwise.empty() || !evidence.heads.empty();
}

const Evidence* find(const Verdict& verdict, std::string_view name) {
  const auto found = std::ranges::find(verdict.evidence, name, &Evidence::name);
  return found == verdict.evidence.end() ? nullptr : &*found;
}

double value(const Verdict& verdict, std::string_view name) {
  const Evidence* evidence = find(verdict, name);
  return evidence == nullptr ? std::numeric_limits<double>::quiet_NaN() : evidence->value;
}

/// Whether a twin was there to compare with.
bool has_twin(const Verdict& verdict) {
  const Evidence* twin = find(verdict, "accuracy_of_twin");
  return twin != nullptr && twin->is_measured();
}

std::string induction_sentence(const Verdict& verdict) {
  const Evidence* head = find(verdict, "induction_score");
  const Evidence* twin = find(verdict, "accuracy_of_twin");
  return fmt::format(
      "It copies at periods it never saw (accuracy {:.3f}): {} looks at what followed the earlier copy, and "
      "rests on previous-token heads, without which {:.0f} % of that is left{}.",
      value(verdict, "accuracy_untrained"), head == nullptr ? "a head" : heads_of(*head),
      100 * value(verdict, "accuracy_without"),
      twin == nullptr || !twin->is_measured() ? "; that one layer cannot do this was not checked"
                                              : "; one layer, trained on the same data, cannot do this");
}

std::string positional_sentence(const Verdict& verdict) {
  const Evidence* twin = find(verdict, "accuracy_of_twin_trained");
  const bool one_layer_can = twin != nullptr && twin->is_measured() && !twin->holds();
  return fmt::format(
      "It copies at the periods it was trained on (accuracy {:.3f}) and not at others ({:.3f}): it looks a "
      "fixed distance back{}, and has no induction heads, whatever they score at its own period.",
      value(verdict, "accuracy_trained"), value(verdict, "accuracy_untrained"),
      one_layer_can ? ", as one layer can" : "");
}

std::string other_sentence(const Verdict& verdict) {
  const Evidence* unseen = find(verdict, "accuracy_untrained");
  if (unseen != nullptr && unseen->holds())
    return fmt::format(
        "It copies at periods it never saw (accuracy {:.3f}), but not all that makes induction heads is "
        "there.",
        unseen->value);
  return fmt::format("It has learnt something ({:.2f} nats below chance), but not to copy.",
                     value(verdict, "learnt"));
}

std::vector<std::string> words_in(const std::string& cell) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < cell.size();) {
    const std::size_t end = std::min(cell.find(' ', begin), cell.size());
    words.push_back(cell.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

Index period_in(const std::string& word) {
  Index period = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), period);
  require(error == std::errc{} && end == word.data() + word.size(),
          "[verdict] expected a period in whole tokens, got '{}'", word);
  return period;
}

Mechanism mechanism_in(const std::string& cell) {
  const auto* found = std::ranges::find(kMechanisms, cell, name_of);
  require(found != kMechanisms.end(), "[verdict] expected induction, positional, other or none, got '{}'",
          cell);
  return *found;
}

}  // namespace

std::string_view name_of(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::induction:
      return "induction";
    case Mechanism::positional:
      return "positional";
    case Mechanism::other:
      return "other";
    case Mechanism::none:
      break;
  }
  return "none";
}

std::string finding(const Evidence& evidence) {
  const auto* wording = std::ranges::find(kWordings, evidence.name, &Wording::name);
  require(wording != kWordings.end(), "[verdict] there is no evidence of the name '{}'", evidence.name);
  return had_a_subject(evidence, *wording) ? wording->measured(evidence) : std::string(wording->otherwise);
}

std::string sentence(const Verdict& verdict) {
  switch (verdict.mechanism) {
    case Mechanism::induction:
      return induction_sentence(verdict);
    case Mechanism::positional:
      return positional_sentence(verdict);
    case Mechanism::other:
      return other_sentence(verdict);
    case Mechanism::none:
      break;
  }
  return "It does no better than chance, on its own task and at copying.";
}

CsvTable verdict_table(const Verdict& verdict, Index step, Index sequences) {
  CsvTable table({"evidence", "value", "must_be", "threshold", "holds", "periods", "heads", "verdict", "twin",
                  "step", "sequences"});
  for (const Evidence& e : verdict.evidence)
    table.add({e.name, csv_cell(e.value), e.above ? "above" : "below", csv_cell(e.threshold),
               !e.is_measured() ? ""
               : e.holds()      ? "yes"
                                : "no",
               fmt::format("{}", fmt::join(e.periods, " ")), fmt::format("{}", fmt::join(e.heads, " ")),
               std::string(name_of(verdict.mechanism)), has_twin(verdict) ? "yes" : "no",
               std::to_string(step), std::to_string(sequences)});
  return table;
}

Verdict verdict_in(const CsvTable& table) {
  Verdict verdict;
  for (Index row = 0; row < table.rows(); ++row) {
    verdict.mechanism = mechanism_in(table.cell(row, "verdict"));
    Evidence evidence{.name = table.cell(row, "evidence"),
                      .value = table.number(row, "value"),
                      .above = table.cell(row, "must_be") == "above",
                      .threshold = table.number(row, "threshold"),
                      .heads = words_in(table.cell(row, "heads"))};
    for (const std::string& word : words_in(table.cell(row, "periods")))
      evidence.periods.push_back(period_in(word));
    verdict.evidence.push_back(std::move(evidence));
  }
  return verdict;
}

}  // namespace tapehead
