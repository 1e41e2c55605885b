#include "tapehead/train/run.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "support/folder.h"
#include "support/functions.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/base/require.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/floor_table.h"
#include "tapehead/train/schedule.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

constexpr const char* kHeader =
    "step,tokens,loss,loss_induction,loss_noise,accuracy_induction,learning_rate,gradient_norm,seconds";

std::string without_seconds(const RunDirectory& run) {
  const std::string text = text_of(run.metrics_file());
  std::string kept;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    kept += line.substr(0, line.rfind(',')) + "\n";
    begin = end + 1;
  }
  return kept;
}

/// A run of its own folder, trained from the start to the end.
struct Finished {
  explicit Finished(const Config& config, int threads = 1)
      : run(RunDirectory::create(folder / "run", config, false)), trainer(config, threads) {
    CHECK(train_run(trainer, run, {}));
  }
  Folder folder;
  RunDirectory run;
  Trainer trainer;
};

/// An observer that asks to stop once `step` is done.
RunObserver stop_after(Index step) {
  auto reached = std::make_shared<Index>(0);
  RunObserver observer;
  observer.stepped = [reached](const Trainer& trainer, const Trainer::StepReport&) {
    *reached = trainer.step();
  };
  observer.should_stop = [reached, step] { return *reached >= step; };
  return observer;
}

/// Counts the passes that come by their first site.
class PassCounter : public Watcher {
 public:
  void check(const ModelConfig&) const override {}
  Variable visit(const Visit& at, const Variable& value) override {
    if (at.site == embedding_site()) ++passes;
    return value;
  }
  void finish(const std::vector<Site>&) const override {}
  int passes = 0;
};

}  // namespace

TEST_CASE("metrics.csv has one row an evaluation, from before any update to the last step") {
  const Config config = tiny_config();
  const Finished finished(config);
  CHECK(text_of(finished.run.metrics_file()).starts_with(std::string(kHeader) + "\n"));
  const CsvTable metrics = CsvTable::read(finished.run.metrics_file());
  CHECK(metrics.numbers("step") == std::vector<double>{0, 4, 8, 10});
  CHECK(metrics.numbers("tokens") == std::vector<double>{0, 4 * 7 * 12, 8 * 7 * 12, 10 * 7 * 12});
  double seconds = 0;
  for (Index row = 0; row < metrics.rows(); ++row) {
    CHECK(metrics.number(row, "seconds") >= seconds);
    seconds = metrics.number(row, "seconds");
  }
}

TEST_CASE("the first row is the model before any update, with the rate of the first") {
  const Config config = tiny_config();
  const Finished finished(config);
  const CsvTable metrics = CsvTable::read(finished.run.metrics_file());
  const Transformer fresh(config.model, config.train.initialisation_seed);
  const Evaluation evaluation = evaluate(fresh, evaluation_batch(config));
  CHECK(metrics.cell(0, "loss") == fmt::format("{:.6g}", evaluation.loss()));
  CHECK(metrics.cell(0, "loss_induction") == fmt::format("{:.6g}", evaluation.loss(Kind::induction)));
  CHECK(metrics.cell(0, "loss_noise") == fmt::format("{:.6g}", evaluation.loss(Kind::noise)));
  CHECK(metrics.cell(0, "accuracy_induction") == fmt::format("{:.6g}", evaluation.accuracy(Kind::induction)));
  CHECK(metrics.cell(0, "learning_rate") == fmt::format("{:.6g}", scheduled_rate(config.train, 0)));
  CHECK(metrics.cell(0, "gradient_norm") == "");
}

TEST_CASE("a row tells of the model after its step, and of the update that led there") {
  const Config config = tiny_config();
  const Finished finished(config);
  const CsvTable metrics = CsvTable::read(finished.run.metrics_file());
  Trainer trainer(config, 1);
  for (Index row = 1; row < metrics.rows(); ++row) {
    Trainer::StepReport report{};
    while (trainer.step() < static_cast<Index>(metrics.number(row, "step"))) report = trainer.advance();
    const Evaluation evaluation = evaluate(trainer.model(), evaluation_batch(config));
    CHECK(metrics.cell(row, "loss") == fmt::format("{:.6g}", evaluation.loss()));
    CHECK(metrics.cell(row, "loss_induction") == fmt::format("{:.6g}", evaluation.loss(Kind::induction)));
    CHECK(metrics.cell(row, "learning_rate") == fmt::format("{:.6g}", report.learning_rate));
    CHECK(metrics.cell(row, "gradient_norm") == fmt::format("{:.6g}", report.gradient_norm));
  }
}

TEST_CASE("checkpoints are there from the start, at every interval and at the end") {
  const Finished finished(tiny_config());
  CHECK(finished.run.checkpoint_steps() == std::vector<Index>{0, 5, 10});
  CHECK(same_bits(Trainer(finished.run.latest_checkpoint(), 1), finished.trainer));

  Config config = tiny_config();
  config.train.steps = 7;
  CHECK(Finished(config).run.checkpoint_steps() == std::vector<Index>{0, 5, 7});
}

TEST_CASE("a run writes its metrics and checkpoints, and leaves heads.csv to others") {
  const Finished finished(tiny_config());
  CHECK_FALSE(std::filesystem::exists(finished.run.heads_file()));
  // config.toml, metrics.csv, floors.csv, checkpoints, .lock
  CHECK(std::distance(std::filesystem::directory_iterator(finished.run.path()), {}) == 5);
}

TEST_CASE("a run begins with the floors of its evaluation batch, and a resume leaves them as they are") {
  const Config config = tiny_config();
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  const std::filesystem::path file = run.table_file("floors");
  Trainer trainer(config, 1);
  CHECK_FALSE(train_run(trainer, run, stop_after(3)));
  const std::string begun = text_of(file);
  floor_table(trainer.task(), evaluation_batch(config), 1).write(folder / "floors.csv");
  CHECK(begun == text_of(folder / "floors.csv"));
  CHECK(begun.starts_with("predictor,loss,loss_induction,loss_noise,accuracy_induction,sequences\nchance,"));

  put(file, "predictor,loss\nkept,1\n");
  Trainer resumed = resume_run(run, 1);
  CHECK(train_run(resumed, run, {}));
  CHECK(text_of(file) == "predictor,loss\nkept,1\n");
}

TEST_CASE("the same config writes the same metrics but for the seconds, on one thread and on two") {
  const Finished first(tiny_config(), 1);
  const Finished again(tiny_config(), 1);
  const Finished two_threads(tiny_config(), 2);
  CHECK(without_seconds(first.run).find("\n10,840,") != std::string::npos);
  CHECK(without_seconds(again.run) == without_seconds(first.run));
  CHECK(without_seconds(two_threads.run) == without_seconds(first.run));
  CHECK(text_of(two_threads.run.latest_checkpoint()) == text_of(first.run.latest_checkpoint()));
}

TEST_CASE("a run that is stopped says so, saves where it is, and goes on to the same tables and bits") {
  const Config config = tiny_config();
  const Finished straight(config);
  // Between evaluations, at an evaluation, at a checkpoint, and at both ends.
  for (const Index stop : {1, 4, 5, 6, 9}) {
    CAPTURE(stop);
    const Folder folder;
    const RunDirectory run = RunDirectory::create(folder / "run", config, false);
    Trainer trainer(config, 1);
    CHECK_FALSE(train_run(trainer, run, stop_after(stop)));
    CHECK(trainer.step() == stop);
    CHECK(run.checkpoint_steps().back() == stop);

    Trainer resumed(run.latest_checkpoint(), 2);
    CHECK(train_run(resumed, run, {}));
    CHECK(same_bits(resumed, straight.trainer));
    CHECK(without_seconds(run) == without_seconds(straight.run));
    const std::vector<double> seconds = CsvTable::read(run.metrics_file()).numbers("seconds");
    CHECK(std::is_sorted(seconds.begin(), seconds.end()));
  }
}

TEST_CASE("a wish to stop at the last step comes too late") {
  const Config config = tiny_config();
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 1);
  CHECK(train_run(trainer, run, stop_after(config.train.steps)));
}

TEST_CASE("going on from an older checkpoint first drops the later rows of both tables") {
  const Config config = tiny_config();
  const Finished finished(config);
  put(finished.run.heads_file(), "step,head\n0,a\n0,b\n0,c\n0,d\n4,a\n4,b\n4,c\n4,d\n8,a\n8,b\n8,c\n8,d\n");
  Trainer resumed(finished.run.checkpoint_file(5), 1);
  CHECK_FALSE(train_run(resumed, finished.run, stop_after(6)));
  CHECK(text_of(finished.run.heads_file()) == "step,head\n0,a\n0,b\n0,c\n0,d\n4,a\n4,b\n4,c\n4,d\n");
  CHECK(CsvTable::read(finished.run.metrics_file()).numbers("step") == std::vector<double>{0, 4});
}

TEST_CASE("starting over in a run that got no further than its first checkpoint writes step 0 once") {
  const Config config = tiny_config();
  const Finished straight(config);
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  put(run.metrics_file(), std::string(kHeader) + "\n0,0,1,1,1,0,0.001,,0.5\n4,336,1,1,1,0,0.001,1,0.7\n");
  put(run.heads_file(), "step,head\n0,a\n4,b\n");
  Trainer trainer(config, 1);
  CHECK(train_run(trainer, run, {}));
  CHECK(without_seconds(run) == without_seconds(straight.run));
  CHECK_FALSE(std::filesystem::exists(run.heads_file()));  // until its observer begins it anew
}

TEST_CASE("sixty steps straight, and twenty-five and thirty-five with a stop between, write the same bytes") {
  Config config = tiny_config();
  config.train.steps = 60;
  const Finished straight(config);
  for (const int threads : {1, 2, 3}) {
    CAPTURE(threads);
    const Folder folder;
    const RunDirectory run = RunDirectory::create(folder / "run", config, false);
    Trainer trainer(config, 1);
    CHECK_FALSE(train_run(trainer, run, stop_after(25)));
    Trainer resumed = resume_run(run, threads);
    CHECK(resumed.step() == 25);
    CHECK(train_run(resumed, run, {}));
    CHECK(without_seconds(run) == without_seconds(straight.run));
    CHECK(text_of(run.latest_checkpoint()) == text_of(straight.run.latest_checkpoint()));
  }
}

TEST_CASE("a run without a checkpoint is resumed from the start") {
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "run", tiny_config(), false);
  put(run.metrics_file(), "step,tok");
  Trainer trainer = resume_run(run, 1);
  CHECK(trainer.step() == 0);
  CHECK(train_run(trainer, run, {}));
  CHECK(without_seconds(run) == without_seconds(Finished(tiny_config()).run));
}

TEST_CASE("a table that lacks an evaluation, or has one too many, is not gone on with and not changed") {
  const Finished finished(tiny_config());
  const std::string metrics = text_of(finished.run.metrics_file());
  const auto line = [&](const char* begin) {
    const std::size_t at = metrics.find(std::string("\n") + begin) + 1;
    return std::pair(at, metrics.find('\n', at) + 1 - at);
  };
  const auto complaint = [&](const std::filesystem::path& file, const std::string& text) {
    put(file, text);
    Trainer trainer(finished.run.checkpoint_file(5), 1);
    const std::string words = failure_of([&] { train_run(trainer, finished.run, {}); });
    CHECK(text_of(file) == text);
    return words;
  };
  const auto missing = [&](const std::filesystem::path& file, const char* rows, int step) {
    return fmt::format(
        "[run] {} should have {} for each evaluation up to the checkpoint of step 5; those of step {} "
        "are missing or out of order",
        file.string(), rows, step);
  };
  const auto [zero, zero_size] = line("0,");
  const auto [four, four_size] = line("4,");
  std::string cut = metrics;
  CHECK(complaint(finished.run.metrics_file(), cut.erase(four, four_size)) ==
        missing(finished.run.metrics_file(), "1 row", 4));
  cut = metrics;
  CHECK(complaint(finished.run.metrics_file(), cut.erase(zero, zero_size)) ==
        missing(finished.run.metrics_file(), "1 row", 0));
  put(finished.run.metrics_file(), metrics);
  CHECK(complaint(finished.run.heads_file(), "step,head\n0,a\n0,b\n0,c\n0,d\n8,a\n") ==
        missing(finished.run.heads_file(), "4 rows", 4));
  CHECK(complaint(finished.run.heads_file(), "step,head\n0,a\n0,b\n0,c\n4,a\n4,b\n4,c\n4,d\n") ==
        missing(finished.run.heads_file(), "4 rows", 0));
  CHECK(complaint(finished.run.heads_file(), "step,head\n0,a\n0,b\n0,c\n0,d\n4,a\n4,b\n4,c\n4,d\n5,a\n") ==
        fmt::format("[run] {} has 1 rows too many up to step 5", finished.run.heads_file().string()));
}

TEST_CASE("a damaged checkpoint is an error that says from where one could go on") {
  const Finished finished(tiny_config());
  const auto damage = [&](Index step) {
    const std::filesystem::path file = finished.run.checkpoint_file(step);
    const std::string whole = text_of(file);
    put(file, whole.substr(0, whole.size() / 2));
  };
  damage(10);
  const std::string words = failure_of([&] { resume_run(finished.run, 1); });
  CHECK(words.starts_with("[safetensors] " + finished.run.checkpoint_file(10).string()));
  CHECK(words.ends_with("; with it moved away, the run goes on from step 5"));

  std::filesystem::remove(finished.run.checkpoint_file(10));
  CHECK(resume_run(finished.run, 1).step() == 5);
  damage(5);
  std::filesystem::remove(finished.run.checkpoint_file(0));
  CHECK(failure_of([&] {
          resume_run(finished.run, 1);
        }).ends_with("; with it moved away, the run begins again"));
}

TEST_CASE("a config that is not the checkpoint's is refused by the name of its field") {
  const Finished finished(tiny_config());
  Config changed = tiny_config();
  changed.train.learning_rate = 0.25;
  put(finished.run.path() / "config.toml", to_toml(changed));
  const RunDirectory run = RunDirectory::open(finished.run.path());
  CHECK(complaint_of([&] { resume_run(run, 1); }).find("train.learning_rate is 0.25 in the one and ") !=
        std::string::npos);
}

TEST_CASE("a run that was removed, or replaced by another, is not written into any more") {
  const Config config = tiny_config();
  for (const bool replaced : {false, true}) {
    CAPTURE(replaced);
    const Folder folder;
    const RunDirectory run = RunDirectory::create(folder / "run", config, false);
    Trainer trainer(config, 1);
    RunObserver observer;
    std::optional<RunDirectory> other;
    observer.stepped = [&](const Trainer& at, const Trainer::StepReport&) {
      if (at.step() != 3) return;
      std::filesystem::remove_all(run.path());
      if (replaced) other = RunDirectory::create(run.path(), config, false);
    };
    CHECK(failure_of([&] { train_run(trainer, run, observer); }) ==
          "[run] " + run.path().string() +
              " was removed or replaced while it was being written; nothing more is written into it");
    CHECK_FALSE(std::filesystem::exists(run.metrics_file()));
  }
}

TEST_CASE("an evaluation whose loss is not finite ends the run with the op that made it, and is not saved") {
  Config config = tiny_config();
  config.model.norm = NormKind::none;
  config.train.optimizer = "sgd";
  config.train.clip = 0;
  config.train.warmup = 0;
  config.train.steps = 1;
  config.train.learning_rate = sizeof(Real) == 4 ? 1e18 : 1e150;
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 1);
  const std::string words = failure_of([&] { train_run(trainer, run, {}); });
  CHECK(words.starts_with("[train] the evaluation's loss is not finite after step 1, shard 0: "));
  CHECK(words.find("made the first") != std::string::npos);
  CHECK(run.checkpoint_steps() == std::vector<Index>{0});
}

TEST_CASE("parameters that are not finite are never saved, and the last good checkpoint stays") {
  Config config = tiny_config();
  config.train.optimizer = "sgd";
  config.train.clip = 0;
  config.train.warmup = 0;
  config.train.schedule = "constant";
  config.train.checkpoint_interval = 1;
  config.train.learning_rate = static_cast<double>(std::numeric_limits<Real>::max());
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 1);
  const std::string words = failure_of([&] { train_run(trainer, run, {}); });
  CHECK(words.starts_with("[train] "));
  CHECK(words.find("not finite") != std::string::npos);
  CHECK(load_checkpoint(run.latest_checkpoint()).model.parameters().first_not_finite() == nullptr);
}

TEST_CASE("a finished run has nothing left to do, and keeps its tables") {
  const Finished finished(tiny_config());
  const std::string metrics = text_of(finished.run.metrics_file());
  Trainer again(finished.run.latest_checkpoint(), 1);
  CHECK(train_run(again, finished.run, {}));
  CHECK(again.step() == 10);
  CHECK(text_of(finished.run.metrics_file()) == metrics);
}

TEST_CASE("a run of no steps is evaluated and saved once") {
  Config config = tiny_config();
  config.train.steps = 0;
  config.train.warmup = 0;
  const Finished finished(config);
  CHECK(CsvTable::read(finished.run.metrics_file()).numbers("step") == std::vector<double>{0});
  CHECK(finished.run.checkpoint_steps() == std::vector<Index>{0});
}

TEST_CASE("an observer hears of every update and every evaluation, and its watchers see the evaluations") {
  const Config config = tiny_config();
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  std::vector<Index> stepped;
  std::vector<Index> evaluated;
  PassCounter counter;
  RunObserver observer;
  observer.watch = {counter};
  observer.stepped = [&](const Trainer& trainer, const Trainer::StepReport& report) {
    stepped.push_back(trainer.step());
    CHECK(report.learning_rate == scheduled_rate(config.train, trainer.step() - 1));
  };
  observer.evaluated = [&](const Trainer& trainer, const Batch& batch, const Evaluation& evaluation) {
    evaluated.push_back(trainer.step());
    CHECK(batch.inputs == evaluation_batch(config).inputs);
    CHECK(same_bits(evaluation.losses, evaluate(trainer.model(), batch).losses));
  };
  Trainer trainer(config, 1);
  CHECK(train_run(trainer, run, observer));
  CHECK(stepped == std::vector<Index>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  CHECK(evaluated == std::vector<Index>{0, 4, 8, 10});
  CHECK(counter.passes == 4);  // 9 sequences are one shard
}

TEST_CASE("evaluations of a run are made under the interventions that act on the update after them") {
  Config config = tiny_config();
  config.interventions = {{.site = "blocks.0.attention.head_output", .from = 3, .to = 8}};
  const Finished finished(config);
  const CsvTable metrics = CsvTable::read(finished.run.metrics_file());
  Trainer trainer(config, 1);
  for (Index row = 0; row < metrics.rows(); ++row) {
    while (trainer.step() < static_cast<Index>(metrics.number(row, "step"))) trainer.advance();
    Edits edits = trainer.interventions();
    const Evaluation plain = evaluate(trainer.model(), evaluation_batch(config));
    const Evaluation seen = evaluate(trainer.model(), evaluation_batch(config), {edits});
    CHECK(metrics.cell(row, "loss") == fmt::format("{:.6g}", seen.loss()));
    CHECK((seen.loss() != plain.loss()) == (trainer.step() == 4));
  }
}

TEST_CASE("a run under an intervention is stopped and gone on with to the same tables and bits") {
  Config config = tiny_config();
  config.interventions = {{.site = "blocks.0.attention.pattern", .kind = "uniform", .from = 3, .to = 8},
                          {.site = "blocks.1.attention.keys", .head = 1, .kind = "mean"}};
  const Finished straight(config);
  for (const Index stop : {2, 3, 6, 8}) {
    CAPTURE(stop);
    const Folder folder;
    const RunDirectory run = RunDirectory::create(folder / "run", config, false);
    Trainer trainer(config, 1);
    CHECK_FALSE(train_run(trainer, run, stop_after(stop)));
    Trainer resumed = resume_run(run, 3);
    CHECK(train_run(resumed, run, {}));
    CHECK(same_bits(resumed, straight.trainer));
    CHECK(without_seconds(run) == without_seconds(straight.run));
  }
}

TEST_CASE("interventions that were changed since the checkpoint are refused as any other field") {
  const Finished finished(tiny_config());
  Config changed = tiny_config();
  changed.interventions = {{.site = "embedding"}};
  put(finished.run.path() / "config.toml", to_toml(changed));
  const RunDirectory run = RunDirectory::open(finished.run.path());
  CHECK(complaint_of([&] { resume_run(run, 1); }).find("intervention is [{site = \"embedding\", ") !=
        std::string::npos);
}

TEST_CASE("checkpoints are saved on every schedule of the config") {
  Config config = tiny_config();
  config.train.checkpoint_interval = 0;
  config.train.checkpoints_per_doubling = 1;
  config.train.checkpoint_steps = {7, 3};
  CHECK(Finished(config).run.checkpoint_steps() == std::vector<Index>{0, 1, 2, 3, 4, 7, 8, 10});
}

namespace {

/// Twenty steps with evaluations every 4 and checkpoints at the ends; `ring` snapshots, of every step.
Config ring_config(Index ring) {
  Config config = tiny_config();
  config.train.steps = 20;
  config.train.checkpoint_interval = 0;
  config.train.ring_snapshots = ring;
  config.train.ring_score = "induction";
  return config;
}

/// An observer that gives the ring a score which rises by step 4, more by 12, and most, if wished, by 20.
RunObserver scoring(Index& step, bool steeper_later = false) {
  RunObserver observer;
  observer.evaluated = [&step](const Trainer& trainer, const Batch&, const Evaluation&) {
    step = trainer.step();
  };
  observer.ring_score = [&step, steeper_later] {
    return (step >= 4 ? 0.1 : 0) + (step >= 12 ? 0.4 : 0) + (steeper_later && step >= 20 ? 0.5 : 0);
  };
  return observer;
}

/// heads.csv of these scores, each the best of its step's four heads.
std::string ring_heads(const std::vector<std::pair<int, const char*>>& scores) {
  std::string heads = "step,layer,head,induction\n";
  for (const auto& [step, score] : scores)
    for (int head = 0; head < 4; ++head)
      heads += fmt::format("{},{},{},{}\n", step, head / 2, head % 2, head == 2 ? score : "0");
  return heads;
}

}  // namespace

TEST_CASE("the ring's window is saved as the checkpoints that a dense schedule saves, and changes no bit") {
  Config dense = ring_config(0);
  dense.train.checkpoint_interval = 1;
  const Finished every(dense);
  const Folder folder;
  const Config config = ring_config(8);
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 2);
  Index step = 0;
  CHECK(train_run(trainer, run, scoring(step)));
  // The middle of the steepest rise is step 8; that around 4 is less steep, and its window is gone again.
  CHECK(run.checkpoint_steps() == std::vector<Index>{0, 5, 6, 7, 8, 9, 10, 11, 12, 20});
  CHECK(without_seconds(run) == without_seconds(every.run));
  for (const Index saved : run.checkpoint_steps()) {
    CAPTURE(saved);
    CHECK(same_bits(Trainer(run.checkpoint_file(saved), 1), Trainer(every.run.checkpoint_file(saved), 1)));
  }
}

TEST_CASE("the window of a rise less steep goes, but for what the schedule saves") {
  Config config = ring_config(8);
  config.train.checkpoint_steps = {9};
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 1);
  Index step = 0;
  CHECK(train_run(trainer, run, scoring(step, true)));
  CHECK(run.checkpoint_steps() == std::vector<Index>{0, 9, 13, 14, 15, 16, 17, 18, 19, 20});
}

TEST_CASE("a stop saves the window as far as it is there, and going on saves the rest") {
  const Config config = ring_config(12);
  const Finished straight(ring_config(0));
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 1);
  Index step = 0;
  RunObserver observer = scoring(step);
  observer.should_stop = [&] { return trainer.step() == 13; };
  CHECK_FALSE(train_run(trainer, run, observer));
  CHECK(run.checkpoint_steps() == std::vector<Index>{0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
  // The scores until here are read from heads.csv.
  put(run.heads_file(), ring_heads({{0, "0"}, {4, "0.1"}, {8, "0.1"}, {12, "0.5"}}));
  Trainer resumed = resume_run(run, 1);
  CHECK(train_run(resumed, run, scoring(step)));
  CHECK(run.checkpoint_steps() == std::vector<Index>{0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 20});
  CHECK(same_bits(resumed, straight.trainer));
}

TEST_CASE("a run that was stopped forgets the window of a rise less steep as one that was not") {
  const Config config = ring_config(8);
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 1);
  Index step = 0;
  RunObserver observer = scoring(step, true);
  // A ring that begins anew at step 14 has nothing in its own hands of the windows before.
  observer.should_stop = [&] { return trainer.step() == 14; };
  CHECK_FALSE(train_run(trainer, run, observer));
  CHECK(run.checkpoint_steps() == std::vector<Index>{0, 5, 6, 7, 8, 9, 10, 11, 12, 14});
  put(run.heads_file(), ring_heads({{0, "0"}, {4, "0.1"}, {8, "0.1"}, {12, "0.5"}}));
  Trainer resumed = resume_run(run, 1);
  CHECK(train_run(resumed, run, scoring(step, true)));
  CHECK(run.checkpoint_steps() == std::vector<Index>{0, 14, 15, 16, 17, 18, 19, 20});
}

TEST_CASE(
    "a ring of the heads' scores is refused in a run that does not score them, before anything changes") {
  const Folder folder;
  const Config config = ring_config(8);
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  put(run.metrics_file(), "kept");
  Trainer trainer(config, 1);
  CHECK(complaint_of([&] { train_run(trainer, run, {}); }) ==
        "[train] train.ring_score is induction, and the heads of this run are not scored");
  CHECK(text_of(run.metrics_file()) == "kept");
}
