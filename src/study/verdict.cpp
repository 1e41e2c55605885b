#include "tapehead/study/verdict.h"

#include <algorithm>
#include <cmath>

#include "tapehead/base/require.h"
#include "tapehead/interp/ablated_evaluation.h"
#include "tapehead/interp/circuits.h"

namespace tapehead {

namespace {

constexpr double kLearnt = 0.05;        // nats below chance
constexpr double kCopies = 0.5;         // of the way from chance to an accuracy of 1
constexpr double kFarFromChance = 0.2;  // of the way from a score's chance level to its ceiling
constexpr double kLeft = 0.5;           // of the accuracy
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// The mean of f(x) over a list; NaN where it is empty.
template <class List, class F>
double mean_of(const List& list, const F& f) {
  double total = 0;
  for (const auto& x : list) total += f(x);
  return total / static_cast<double>(list.size());
}

std::string in_words(const std::vector<Index>& periods) {
  std::string text = periods.size() == 1 ? "period " : "periods ";
  for (std::size_t i = 0; i < periods.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == periods.size() ? " and " : ", ", periods[i]);
  return text;
}

/// A head, and its mean score over probes.
struct Found {
  Index layer = kNoLayer;
  Index head = kAllHeads;
  double score = kNone;

  std::string name() const { return fmt::format("head {}.{}", layer, head); }
};

Index probe_length(const Transformer& model, const Task& task) {
  return std::min(task.length(), model.config().context);
}

/// What is asked of one model, step by step. Members are in the order in which they are found out.
class Inquiry {
 public:
  Inquiry(const Transformer& model, const Task& task, const Batch& own, const Transformer* twin,
          const ProbeOptions& options)
      : model_(model),
        twin_(twin),
        options_(options),
        length_(probe_length(model, task)),
        periods_(probe_periods(task, length_)),
        untrained_(probes(model, periods_.untrained)) {
    ask_what_it_learnt(own);
    ask_what_it_copies();
    ask_for_an_induction_head();
    ask_for_a_previous_token_head();
    ask_the_twin();
  }

  Verdict verdict() && {
    const Mechanism mechanism = mechanism_of_evidence();
    return {mechanism, sentence(mechanism), std::move(evidence_)};
  }

 private:
  std::vector<Probe> probes(const Transformer& model, const std::vector<Index>& periods) const {
    std::vector<Probe> made;
    for (const Index period : periods) made.push_back(probe(model, length_, period, options_));
    return made;
  }

  static double accuracy(const std::vector<Probe>& probes) {
    return mean_of(probes, [](const Probe& p) { return p.evaluation.accuracy(Kind::induction); });
  }

  /// What guessing gets right, and half of the way from there to everything.
  double accuracy_threshold() const {
    const double chance = 1 / static_cast<double>(model_.config().vocabulary);
    return chance + kCopies * (1 - chance);
  }

  /// What an even head scores, and a fifth of the way from there to the ceiling.
  double threshold(Score score) const {
    const double chance =
        mean_of(untrained_, [&](const Probe& p) { return p.chance[static_cast<std::size_t>(score)]; });
    return chance + kFarFromChance * (1 - chance);
  }

  /// The heads of layers first, ..., last - 1 at periods never trained on.
  std::vector<Found> heads(Score score, Index first, Index last) const {
    std::vector<Found> found;
    if (untrained_.empty()) return found;
    for (std::size_t i = 0; i < untrained_.front().heads.size(); ++i) {
      const HeadScores& head = untrained_.front().heads[i];
      if (head.layer >= first && head.layer < last)
        found.push_back(
            {head.layer, head.head, mean_of(untrained_, [&](const Probe& p) { return p.heads[i][score]; })});
    }
    return found;
  }

  void ask_what_it_learnt(const Batch& own) {
    const double loss = evaluate(model_, own, {}, options_.evaluate).loss();
    const double chance = std::log(static_cast<double>(model_.config().vocabulary));
    add({"learnt", "nats by which the loss on its own task is below chance", chance - loss, true, kLearnt});
  }

  void ask_what_it_copies() {
    if (!periods_.trained.empty())
      add({"accuracy_trained",
           fmt::format("accuracy on induction positions at {}, which it was trained on",
                       in_words(periods_.trained)),
           accuracy(probes(model_, periods_.trained)), true, accuracy_threshold()});
    add({"accuracy_untrained",
         fmt::format("the same at {}, which it never saw", in_words(periods_.untrained)),
         accuracy(untrained_), true, accuracy_threshold()});
  }

  void ask_for_an_induction_head() {
    const std::vector<Found> later = heads(Score::induction, 1, model_.config().layers);
    const auto best = std::ranges::max_element(later, {}, &Found::score);
    if (best != later.end()) induction_head_ = *best;
    add({"induction_score",
         best == later.end() ? "no head in a layer after the first"
                             : fmt::format("induction score of {} at those periods", induction_head_.name()),
         induction_head_.score, true, threshold(Score::induction)});
    add({"copying",
         best == later.end() ? "no such head to copy with"
                             : fmt::format("share of tokens that its weights copy (full OV, top 1)"),
         best == later.end() ? kNone : copied_by(induction_head_), true, accuracy_threshold()});
  }

  double copied_by(const Found& head) const {
    return circuits_of_head(model_, head.layer, head.head, {.threads = options_.evaluate.threads})
        .copying_top1;
  }

  void ask_for_a_previous_token_head() {
    const std::vector<Found> earlier =
        heads(Score::previous_token, 0, std::max<Index>(induction_head_.layer, 0));
    const auto best = std::ranges::max_element(earlier, {}, &Found::score);
    add({"previous_token_score",
         best == earlier.end() ? "no head in a layer before an induction head"
                               : fmt::format("previous-token score of {}", best->name()),
         best == earlier.end() ? kNone : best->score, true, threshold(Score::previous_token)});
    std::vector<Found> team;
    std::ranges::copy_if(earlier, std::back_inserter(team),
                         [&](const Found& head) { return head.score > threshold(Score::previous_token); });
    std::string names;
    for (const Found& head : team) names += fmt::format("{}{}", names.empty() ? "" : " and ", head.name());
    const double left = team.empty() ? kNone : accuracy_without(team) / accuracy(untrained_);
    add({"accuracy_without",
         team.empty()
             ? "no previous-token head to take out"
             : fmt::format("share of that accuracy left with {} zeroed and later values held", names),
         left, false, kLeft, team.empty() || !std::isnan(left)});
  }

  /// At periods never trained on, with these heads zeroed while later layers' values are as without.
  double accuracy_without(const std::vector<Found>& team) const {
    Removal removal{AblationKind::value_preserving, {}};
    for (const Found& head : team) removal.components.push_back(head_output(head.layer, head.head));
    return mean_of(periods_.untrained, [&](Index period) {
      const Batch batch = probe_batch(model_.config().vocabulary, length_, period, options_);
      const AblatedEvaluations without = evaluate_ablated(model_, batch, {}, {removal}, options_.evaluate);
      return without.ablated.front().accuracy(Kind::induction);
    });
  }

  void ask_the_twin() {
    const auto add_twin = [&](const char* name, const char* where, const std::vector<Index>& periods) {
      const double value = twin_ == nullptr ? kNone : accuracy(probes(*twin_, periods));
      add({name,
           twin_ == nullptr ? "no one-layer twin to compare with"
                            : fmt::format("accuracy of its one-layer twin at periods {}", where),
           value, false, accuracy_threshold(), twin_ != nullptr});
    };
    if (!periods_.trained.empty())
      add_twin("accuracy_of_twin_trained", "both were trained on", periods_.trained);
    add_twin("accuracy_of_twin", "neither ever saw", periods_.untrained);
  }

  void add(Evidence evidence) { evidence_.push_back(std::move(evidence)); }

  const Evidence* find(std::string_view name) const {
    const auto found = std::ranges::find(evidence_, name, &Evidence::name);
    return found == evidence_.end() ? nullptr : &*found;
  }
  bool holds(std::string_view name) const {
    const Evidence* evidence = find(name);
    return evidence != nullptr && evidence->holds();
  }
  double value(std::string_view name) const { return find(name) == nullptr ? kNone : find(name)->value; }

  /// The circuit's parts, all of them; a twin that is not there counts neither way.
  bool has_the_circuit() const {
    const bool twin_fails = twin_ == nullptr || holds("accuracy_of_twin");
    return holds("induction_score") && holds("copying") && holds("previous_token_score") &&
           holds("accuracy_without") && twin_fails;
  }

  Mechanism mechanism_of_evidence() const {
    if (holds("accuracy_untrained")) return has_the_circuit() ? Mechanism::induction : Mechanism::other;
    if (holds("accuracy_trained")) return Mechanism::positional;
    return holds("learnt") ? Mechanism::other : Mechanism::none;
  }

  std::string sentence(Mechanism mechanism) const {
    const double seen = value("accuracy_trained");
    const double unseen = value("accuracy_untrained");
    if (mechanism == Mechanism::induction)
      return fmt::format(
          "It copies at periods it never saw (accuracy {:.3f}): {} looks at what followed the earlier copy, "
          "and "
          "rests on previous-token heads, without which {:.0f} % of that is left{}.",
          unseen, induction_head_.name(), 100 * value("accuracy_without"),
          twin_ == nullptr ? "; that one layer cannot do this was not checked"
                           : "; one layer, trained on the same data, cannot do this");
    if (mechanism == Mechanism::positional)
      return fmt::format(
          "It copies at the periods it was trained on (accuracy {:.3f}) and not at others ({:.3f}): it looks "
          "a "
          "fixed distance back{}, and has no induction heads, whatever they score at its own period.",
          seen, unseen, value("accuracy_of_twin_trained") > accuracy_threshold() ? ", as one layer can" : "");
    if (mechanism == Mechanism::none) return "It does no better than chance, on its own task and at copying.";
    if (holds("accuracy_untrained"))
      return fmt::format(
          "It copies at periods it never saw (accuracy {:.3f}), but not all that makes induction heads is "
          "there.",
          unseen);
    return fmt::format("It has learnt something ({:.2f} nats below chance), but not to copy.",
                       value("learnt"));
  }

  const Transformer& model_;
  const Transformer* twin_;
  ProbeOptions options_;
  Index length_;
  ProbePeriods periods_;
  std::vector<Probe> untrained_;
  Found induction_head_;
  std::vector<Evidence> evidence_;
};

/// Whether a twin was there to compare with.
bool has_twin(const Verdict& verdict) { return std::ranges::all_of(verdict.evidence, &Evidence::is_known); }

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

void require_period_to_probe(const Transformer& model, const Task& task) {
  const Index length = probe_length(model, task);
  if (probe_periods(task, length).untrained.empty())
    throw UsageError(fmt::format(
        "[verdict] in sequences of {} tokens there is no period to probe that it was not trained on: "
        "without one, copying by position and by content look the same",
        length));
}

Verdict judge(const Transformer& model, const Task& task, const Batch& own, const Transformer* twin,
              const ProbeOptions& options) {
  require_period_to_probe(model, task);
  return Inquiry(model, task, own, twin, options).verdict();
}

CsvTable verdict_table(const Verdict& verdict, Index step, Index sequences) {
  CsvTable table(
      {"evidence", "value", "must_be", "threshold", "holds", "verdict", "twin", "step", "sequences"});
  for (const Evidence& e : verdict.evidence)
    table.add({e.name, csv_cell(e.value), e.above ? "above" : "below", csv_cell(e.threshold),
               !e.is_known ? ""
               : e.holds() ? "yes"
                           : "no",
               std::string(name_of(verdict.mechanism)), has_twin(verdict) ? "yes" : "no",
               std::to_string(step), std::to_string(sequences)});
  return table;
}

}  // namespace tapehead
