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

/// A head, and its mean score over probes.
struct Found {
  Index layer = kNoLayer;
  Index head = kAllHeads;
  double score = kNone;

  /// "1.0" for head 0 of layer 1
  std::string name() const { return fmt::format("{}.{}", layer, head); }
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

  Verdict verdict() && { return {mechanism_of_evidence(), std::move(evidence_)}; }

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
    add({.name = "learnt", .value = chance - loss, .threshold = kLearnt});
  }

  void ask_what_it_copies() {
    if (!periods_.trained.empty())
      add({.name = "accuracy_trained",
           .value = accuracy(probes(model_, periods_.trained)),
           .threshold = accuracy_threshold(),
           .periods = periods_.trained});
    add({.name = "accuracy_untrained",
         .value = accuracy(untrained_),
         .threshold = accuracy_threshold(),
         .periods = periods_.untrained});
  }

  void ask_for_an_induction_head() {
    const std::vector<Found> later = heads(Score::induction, 1, model_.config().layers);
    const auto best = std::ranges::max_element(later, {}, &Found::score);
    std::vector<std::string> names;
    if (best != later.end()) {
      induction_head_ = *best;
      names.push_back(best->name());
    }
    add({.name = "induction_score",
         .value = induction_head_.score,
         .threshold = threshold(Score::induction),
         .heads = names});
    add({.name = "copying",
         .value = names.empty() ? kNone : copied_by(induction_head_),
         .threshold = accuracy_threshold(),
         .heads = names});
  }

  double copied_by(const Found& head) const {
    return circuits_of_head(model_, head.layer, head.head, {.threads = options_.evaluate.threads})
        .copying_top1;
  }

  void ask_for_a_previous_token_head() {
    const std::vector<Found> earlier =
        heads(Score::previous_token, 0, std::max<Index>(induction_head_.layer, 0));
    const auto best = std::ranges::max_element(earlier, {}, &Found::score);
    Evidence score{
        .name = "previous_token_score", .value = kNone, .threshold = threshold(Score::previous_token)};
    if (best != earlier.end()) {
      score.value = best->score;
      score.heads.push_back(best->name());
    }
    add(std::move(score));
    std::vector<Found> team;
    std::ranges::copy_if(earlier, std::back_inserter(team),
                         [&](const Found& head) { return head.score > threshold(Score::previous_token); });
    Evidence left{.name = "accuracy_without", .value = kNone, .above = false, .threshold = kLeft};
    for (const Found& head : team) left.heads.push_back(head.name());
    if (!team.empty()) left.value = accuracy_without(team) / accuracy(untrained_);
    add(std::move(left));
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
    const auto add_twin = [&](const char* name, const std::vector<Index>& periods) {
      add({.name = name,
           .value = twin_ == nullptr ? kNone : accuracy(probes(*twin_, periods)),
           .above = false,
           .threshold = accuracy_threshold(),
           .periods = periods});
    };
    if (!periods_.trained.empty()) add_twin("accuracy_of_twin_trained", periods_.trained);
    add_twin("accuracy_of_twin", periods_.untrained);
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

  const Transformer& model_;
  const Transformer* twin_;
  ProbeOptions options_;
  Index length_;
  ProbePeriods periods_;
  std::vector<Probe> untrained_;
  Found induction_head_;
  std::vector<Evidence> evidence_;
};

}  // namespace

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

}  // namespace tapehead
