#include "tapehead/exchange/imported_run.h"

#include "exchange/foreign.h"
#include "support/byte_pairs.h"
#include "support/training.h"
#include "tapehead/interp/ablation.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/run.h"
#include "tapehead/train/trainer.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

namespace fs = std::filesystem;

Config config_with(const std::vector<std::string>& overrides) {
  return imported_config(small_gpt2(), ".", overrides);
}

}  // namespace

TEST_CASE("an imported run has the model's bits, its config, and no steps") {
  const Folder folder;
  const ImportedModel imported = import_gpt2(golden("gpt2-untied-f16"));
  const RunDirectory created = create_imported_run(imported, folder / "run");
  const RunDirectory run = RunDirectory::open(folder / "run");
  CHECK(run.config() == created.config());
  ModelConfig expected = imported.model.config();
  expected.initialisation = Initialisation::imported;
  CHECK(run.config().model == expected);
  CHECK(run.config().train.steps == 0);
  CHECK(run.checkpoint_steps() == std::vector<Index>{0});
  const Checkpoint checkpoint = load_checkpoint(run.latest_checkpoint());
  CHECK(checkpoint.config == run.config());
  CHECK(checkpoint.step == 0);
  CHECK(same_bits(checkpoint.model.parameters(), imported.model.parameters()));
  CHECK_FALSE(fs::exists(folder / "run/tokenizer"));
}

TEST_CASE("an imported run can be looked at and trained further at once") {
  const Folder folder;
  const ImportedModel imported = import_gpt2(golden("gpt2-tied"));
  const std::vector<std::string> overrides{"train.steps=2", "train.optimizer=sgd",
                                           "train.evaluation_sequences=4", "model.dropout=0"};
  const RunDirectory run = create_imported_run(imported, folder / "run", overrides);
  const Checkpoint checkpoint = load_checkpoint(run.latest_checkpoint());
  const Batch batch = evaluation_batch(checkpoint.config);
  CHECK(batch.length() == 8);
  CHECK(std::isfinite(evaluate(checkpoint.model, batch).loss(Kind::induction)));
  Trainer trainer(run.latest_checkpoint(), 1);
  trainer.advance();
  trainer.advance();
  CHECK(trainer.step() == 2);
}

TEST_CASE("the task is as long as fits, with periods that can repeat in it") {
  for (Index context = 3; context <= 60; ++context) {
    CAPTURE(context);
    ModelConfig model = small_gpt2();
    model.context = context;
    const Config config = imported_config(model, ".");  // which checks all that a config has to keep
    CHECK(config.task.length == std::min(context, Index{48}));
  }
  ModelConfig model = small_gpt2();
  model.context = 1024;
  TaskConfig expected;
  CHECK(imported_config(model, ".").task == expected);
  model.context = 11;
  expected.length = 11;
  expected.period_min = 1;
  expected.period_max = 5;
  CHECK(imported_config(model, ".").task == expected);
  model.context = 2;
  CHECK(complaint_of([&] { imported_config(model, "."); }) ==
        "[import] a context of 2 is too short to make a run of: expected at least 3");
}

TEST_CASE("overrides change the run, and nothing of the model but its dropout") {
  const Config config = config_with({"train.steps=7", "task.period_max=4", "model.dropout=0.5"});
  CHECK(config.train.steps == 7);
  CHECK(config.task.period_max == 4);
  CHECK(config.model.dropout == 0.5);
  const auto complaint = [](const std::string& text) { return complaint_of([&] { config_with({text}); }); };
  CHECK(complaint("model.layers=2") == "accepted");
  CHECK(complaint("model.layers=3") ==
        "--set model.layers: the model that is imported has 2, and only its dropout can be changed");
  CHECK(complaint("model.gelu=erf") ==
        "--set model.gelu: the model that is imported has \"tanh\", and only its dropout can be changed");
  CHECK(complaint("model.tied=false") ==
        "--set model.tied: the model that is imported has true, and only its dropout can be changed");
  CHECK(complaint("train.stpes=3") ==
        "--set train.stpes=3: unknown key train.stpes; the nearest is train.steps");
  CHECK(complaint("task.length=11").find("task.length: expected at most model.context (10), got 11") !=
        std::string::npos);
}

TEST_CASE("a tokenizer beside the model comes along, under the usual names, and is the one for texts") {
  const Folder folder;
  const fs::path source = folder / "source";
  ModelConfig large = small_gpt2();
  large.vocabulary = 300;
  export_gpt2(Transformer(large, 1), source);
  testing::BytePairs pairs;
  pairs.merge("a", "b");
  put(source / "encoder.json", pairs.vocabulary_file().text);
  put(source / "vocab.bpe", pairs.merges_file().text);
  put(source / "tokenizer.json", "{}");
  create_imported_run(import_gpt2(source), folder / "run");
  CHECK(text_of(folder / "run/tokenizer/vocab.json") == pairs.vocabulary_file().text);
  CHECK(text_of(folder / "run/tokenizer/merges.txt") == pairs.merges_file().text);
  CHECK(std::distance(fs::directory_iterator(folder / "run/tokenizer"), {}) == 2);

  put(folder / "text", std::string(400, 'a') + std::string(400, 'b'));
  const std::vector<std::string> on_text{"task.name=text", "task.file=" + (folder / "text").string(),
                                         "task.length=6", "train.steps=1", "train.warmup=0"};
  const RunDirectory run = create_imported_run(import_gpt2(source), folder / "run", on_text, true);
  CHECK(run.config().task.tokenizer == source.string());
  CHECK(resume_run(run, 1).task().tokenizer()->size() == 257);
  CHECK(std::distance(fs::directory_iterator(folder / "run/tokenizer"), {}) == 2);
}

TEST_CASE("a tokenizer that is damaged, or too large for the model, is refused before anything is written") {
  const Folder folder;
  const fs::path source = folder / "source";
  export_gpt2(Transformer(small_gpt2(), 1), source);
  create_imported_run(import_gpt2(golden("gpt2-tied")), folder / "run");
  const std::string kept = text_of(folder / "run/config.toml");
  testing::BytePairs pairs;
  put(source / "vocab.json", pairs.vocabulary_file().text);
  put(source / "merges.txt", "garbage");
  const auto complaint = [&] {
    return failure_of([&] { create_imported_run(import_gpt2(source), folder / "run", {}, true); });
  };
  CHECK(complaint().find("merges.txt:1") != std::string::npos);
  put(source / "merges.txt", pairs.merges_file().text);
  CHECK(complaint() ==
        "[import] the tokenizer in " + source.string() + " has 256 tokens, more than the model's 7");
  CHECK(text_of(folder / "run/config.toml") == kept);
  CHECK(RunDirectory::open(folder / "run").checkpoint_steps() == std::vector<Index>{0});
}

TEST_CASE("an imported run without its model does not begin again from weights of chance") {
  const Folder folder;
  const RunDirectory run = create_imported_run(import_gpt2(golden("gpt2-tied")), folder / "run",
                                               std::vector<std::string>{"train.steps=2", "train.warmup=0"});
  const std::string whole = text_of(run.checkpoint_file(0));
  put(run.checkpoint_file(0), whole.substr(0, whole.size() / 2));
  CHECK(failure_of([&] { resume_run(run, 1); }).ends_with("; import the model again, with --overwrite"));
  fs::remove(run.checkpoint_file(0));
  CHECK(failure_of([&] {
          resume_run(run, 1);
        }).find("starting weights of an imported model are in its checkpoint") != std::string::npos);
}

TEST_CASE("a run that is there is kept unless it is to be replaced") {
  const Folder folder;
  const ImportedModel tied = import_gpt2(golden("gpt2-tied"));
  const ImportedModel untied = import_gpt2(golden("gpt2-untied-f16"));
  create_imported_run(tied, folder / "run");
  CHECK(complaint_of([&] { create_imported_run(untied, folder / "run"); }).find("holds a run already") !=
        std::string::npos);
  CHECK(RunDirectory::open(folder / "run").config().model.tied);
  CHECK(complaint_of([&] {
          create_imported_run(untied, folder / "run", std::vector<std::string>{"model.heads=1"}, true);
        }).starts_with("--set model.heads"));
  CHECK(RunDirectory::open(folder / "run").config().model.tied);
  create_imported_run(untied, folder / "run", {}, true);
  CHECK_FALSE(RunDirectory::open(folder / "run").config().model.tied);
}
