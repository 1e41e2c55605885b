#include "tapehead/report/page_data.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "tapehead/base/machine.h"
#include "tapehead/base/require.h"
#include "tapehead/base/shell_word.h"
#include "tapehead/base/version.h"
#include "tapehead/interp/attention_map.h"
#include "tapehead/interp/circuit_maps.h"
#include "tapehead/interp/head_scores.h"
#include "tapehead/report/ablation_marks.h"
#include "tapehead/report/attention_figure.h"
#include "tapehead/report/pattern_history.h"
#include "tapehead/report/style.h"
#include "tapehead/study/evidence.h"
#include "tapehead/study/formation.h"
#include "tapehead/study/sound_table.h"
#include "tapehead/study/table_origin.h"
#include "tapehead/train/intervention.h"
#include "tapehead/train/run_checkpoint.h"
#include "tapehead/train/trainer.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestSign = 24;  // of a token, in characters
constexpr Index kMapTokens = 64;          // of a circuit's map; a larger vocabulary is sampled

template <class Value>
Json json_of(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// The newest checkpoint that can be read.
Checkpoint newest_readable(const RunDirectory& run) {
  const std::vector<Index> steps = run.checkpoint_steps();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) try {
      return run_checkpoint(run, *step);
    } catch (const Error&) {
      if (step + 1 == steps.rend()) throw;
    }
  throw Error(fmt::format("[page] {} has no checkpoint yet", run.path().string()));
}

/// Builds the document part by part; a part whose data cannot be read is left out, and named.
class PageMaker {
 public:
  PageMaker(const RunDirectory& run, int threads)
      : run_(run), threads_(threads), checkpoint_(newest_readable(run)), task_(task_of(checkpoint_)) {}

  PageData made() && {
    page_["run"] = about_run();
    page_["made_by"] = {{"version", version()}, {"machine", machine()}};
    add("tables", [&] { return tables(); });
    add("verdict", [&] { return verdict(); });
    add("formation", [&] { return formation(); });
    add("scores", [&] { return scores(); });
    add("ablation", [&] { return ablation(); });
    add("attention", [&] { return attention(); });
    add("circuits", [&] { return circuits(); });
    // A path may hold bytes that are no UTF-8.
    return {page_.dump(-1, ' ', false, Json::error_handler_t::replace), std::move(faults_),
            std::move(warnings_)};
  }

 private:
  template <class Part>
  void add(const char* name, const Part& part) {
    try {
      page_[name] = part();
    } catch (const Error& error) {
      page_[name] = nullptr;
      note_fault(error.what());
    }
  }

  void note_fault(const std::string& fault) {
    if (std::ranges::find(faults_, fault) == faults_.end()) faults_.push_back(fault);
  }

  /// What was measured on another checkpoint than the page's goes with a word of warning.
  void note_step(std::string_view name, const CsvTable& there) {
    if (is_of_training(name) || there.rows() == 0) return;
    const std::string step = std::to_string(checkpoint_.step);
    for (Index row = 0; row < there.rows(); ++row)
      if (there.cell(row, "step") == step) return;
    warnings_.push_back(fmt::format("{} tells of step {}, and the page of step {}", there.file().string(),
                                    there.cell(there.rows() - 1, "step"), step));
  }

  CsvTable table(std::string_view name) const { return sound_table(run_, name); }

  Json about_run() const {
    const Config& config = run_.config();
    const fs::path path = (run_.path() / "").lexically_normal().parent_path();
    Json interventions = Json::array();
    for (const Intervention& intervention : config.interventions)
      interventions.push_back(in_words(intervention));
    return {{"name", (path.has_filename() ? path.filename() : path).string()},
            {"path", shell_word(run_.path().string())},
            {"in_words", run_in_words(config)},
            {"step", checkpoint_.step},
            {"steps", config.train.steps},
            {"tokens_a_step", config.train.batch * config.task.length},
            {"parameters", checkpoint_.model.parameters().count()},
            {"layers", config.model.layers},
            {"heads", config.model.heads},
            {"vocabulary", config.model.vocabulary},
            {"repeats", task_kind(config.task.name).repeats},
            {"periods", periods()},
            {"interventions", std::move(interventions)},
            {"seeds",
             {{"weights", config.train.initialisation_seed},
              {"data", config.train.data_seed},
              {"dropout", config.train.dropout_seed},
              {"evaluation", config.train.evaluation_seed}}},
            {"config", to_toml(config)}};
  }

  /// The shortest and the longest period of the training's sequences.
  Json periods() const {
    const std::optional<Periods> periods = task_->periods();
    return periods ? Json{periods->shortest, periods->longest} : Json(nullptr);
  }

  Json tables() {
    Json list = Json::array();
    for (const std::string_view name : kRunTables) {
      if (name == kSweepTable) continue;
      Json entry{{"name", name}, {"about", about_table(name)}};
      CsvTable there({});
      try {
        there = table(name);
        if (there.rows() > 0) entry["csv"] = there.text();
        note_step(name, there);
      } catch (const Error& error) {
        entry["fault"] = error.what();
        note_fault(error.what());
      }
      entry["command"] = command(name, there);
      list.push_back(std::move(entry));
    }
    return list;
  }

  std::string command(std::string_view name, const CsvTable& there) {
    try {
      return shell_text(commands_for_table(run_, name, there));
    } catch (const Error& error) {
      note_fault(error.what());
      return "";
    }
  }

  Json verdict() const {
    const CsvTable there = table("verdict");
    if (there.rows() == 0) return nullptr;
    const Verdict verdict = verdict_in(there);
    Json evidence = Json::array();
    for (const Evidence& e : verdict.evidence)
      evidence.push_back({{"name", e.name}, {"finding", finding(e)}});
    return {{"mechanism", name_of(verdict.mechanism)},
            {"sentence", sentence(verdict)},
            {"evidence", std::move(evidence)}};
  }

  /// What is drawn over the losses; nothing where learning to copy has no beginning and no end.
  Json formation() const {
    const CsvTable metrics = table("metrics");
    if (metrics.rows() == 0 || !task_kind(run_.config().task.name).repeats) return nullptr;
    const Formation formation = formation_of(metrics);
    Json json{{"onset", json_of(formation.onset)},
              {"half", json_of(formation.half)},
              {"done", json_of(formation.done)},
              {"bump", nullptr},
              {"hump", nullptr}};
    if (const auto& bump = formation.bump)
      json["bump"] = {
          {"start", bump->start}, {"top", bump->top}, {"end", json_of(bump->end)}, {"height", bump->height}};
    if (const auto& hump = formation.hump)
      json["hump"] = {{"start", hump->start},
                      {"top", hump->top},
                      {"end", json_of(hump->end)},
                      {"level", hump->level},
                      {"height", hump->height}};
    return json;
  }

  Json scores() const {
    const ScoreValues chance =
        chance_scores(evaluation_batch(checkpoint_.config, *task_), run_.config().model.vocabulary);
    Json list = Json::array();
    for (std::size_t i = 0; i < kScores.size(); ++i)
      list.push_back(
          {{"name", kScores[i].name}, {"definition", kScores[i].definition}, {"chance", chance[i]}});
    return list;
  }

  Json ablation() const {
    Json kinds = Json::array();
    for (const AblationDefinition& kind : kAblationKinds)
      kinds.push_back({{"name", kind.name}, {"replacement", kind.replacement}});
    Json marks;
    const CsvTable there = table("ablation");
    for (const AblationQuantity& quantity : {kOnInduction, kOnNoise}) {
      Json of_rows = Json::array();
      for (const Disagreement disagreement : disagreements(there, quantity))
        of_rows.push_back(disagreement == Disagreement::sign   ? "sign"
                          : disagreement == Disagreement::size ? "size"
                                                               : "");
      marks[std::string(quantity.mean)] = std::move(of_rows);
    }
    return {{"kinds", std::move(kinds)}, {"marks", std::move(marks)}};
  }

  std::vector<std::string> signs(const Tokens& tokens) const {
    return token_signs(tokens, run_.config().model.vocabulary, task_->tokenizer().get(), kLongestSign, true);
  }

  Json attention() {
    if (run_.config().model.layers == 0) return nullptr;
    if (!holds_patterns(run_.config().model)) return nullptr;
    PatternHistory history = pattern_history(run_, *task_, {.threads = threads_});
    for (const std::string& fault : history.faults) note_fault(fault);
    Json sequences = Json::array();
    for (Index b = 0; b < history.sequences.size(); ++b)
      sequences.push_back({{"signs", signs(history.sequences.inputs.rows(b, 1))},
                           {"targets", induction_targets(history.sequences, b)}});
    return {{"positions", history.sequences.length()}, {"of_positions", history.of_positions},
            {"checkpoints", history.checkpoints},      {"steps", history.steps},
            {"sequences", std::move(sequences)},       {"weights", std::move(history.weights)}};
  }

  Json circuits() const {
    const Transformer& model = checkpoint_.model;
    if (model.config().layers == 0) return nullptr;
    CircuitOptions options = usual_circuit_options(
        model, checkpoint_.config, evaluation_batch(checkpoint_.config, *task_), {.threads = threads_});
    options.tokens = kMapTokens;
    const Index of_positions = options.positions == 0 ? model.config().context : options.positions;
    options.positions = std::min(of_positions, kMapTokens);
    const CircuitMaps circuits = circuit_maps(model, options);
    Json maps = Json::array();
    for (const CircuitMap& map : circuits.maps) {
      Json entry{{"kind", name_of(map.kind)}, {"layer", map.layer}, {"head", map.head}};
      if (map.earlier_layer >= 0) {
        entry["earlier_layer"] = map.earlier_layer;
        entry["earlier_head"] = map.earlier_head;
      }
      entry["values"] = packed(map.values.values());
      maps.push_back(std::move(entry));
    }
    return {{"signs", signs(Tokens(1, static_cast<Index>(circuits.tokens.size()), circuits.tokens))},
            {"positions", circuits.positions},
            {"of_positions", of_positions},
            {"maps", std::move(maps)}};
  }

  const RunDirectory& run_;
  int threads_;
  Checkpoint checkpoint_;
  std::unique_ptr<Task> task_;
  Json page_;
  std::vector<std::string> faults_;
  std::vector<std::string> warnings_;
};

}  // namespace

PageData page_data(const RunDirectory& run, int threads) { return PageMaker(run, threads).made(); }

}  // namespace tapehead
