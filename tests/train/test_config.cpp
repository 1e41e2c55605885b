#include "tapehead/train/config.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/folder.h"
#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;

namespace {

using testing::complaint_of;

std::string complaint(std::string_view text, const std::vector<std::string>& overrides = {}) {
  return complaint_of([&] { parse_config(text, "x.toml", overrides); });
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

const std::string kSource = TAPEHEAD_SOURCE_DIR;

}  // namespace

TEST_CASE("a config that gives nothing is the defaults") {
  CHECK(parse_config("", "x.toml") == Config{});
  CHECK(parse_config("[model]\n[task]\n[train]\n", "x.toml") == Config{});
}

TEST_CASE("a config sets what it gives and leaves the rest") {
  Config expected;
  expected.model.layers = 3;
  expected.model.norm = NormKind::layer;
  expected.model.positions = Positions::none;
  expected.task.name = "fixed_period_sequence";
  expected.train.betas = {0.5, 0.25};
  expected.train.data_seed = 9223372036854775807u;
  const std::string text = R"(
    train.data_seed = 9223372036854775807  # dotted keys are TOML, too
    train.betas = [0.5, 0.25]
    [model]
    layers = 3
    norm = "layer"
    positions = "none"
    [task]
    name = "fixed_period_sequence"
  )";
  CHECK(parse_config(text, "x.toml") == expected);
}

TEST_CASE("an integer is taken where a number is meant, and an integral number where an integer is meant") {
  const Config config =
      parse_config("[train]\nlearning_rate = 1\nbetas = [0, 0.5]\nwarmup = 3e2\nsteps = 1_000.0", "x.toml");
  CHECK(config.train.learning_rate == 1.0);
  CHECK(config.train.betas[0] == 0.0);
  CHECK(config.train.warmup == 300);
  CHECK(config.train.steps == 1000);
}

TEST_CASE("a value of the wrong type is refused where it stands") {
  CHECK(complaint("[train]\nsteps = 2.5") ==
        "x.toml:2:9: train.steps: expected an integer from 0 to 1e9, got 2.5");
  CHECK(complaint("[train]\n\n  learning_rate = \"3e-4\"") ==
        "x.toml:3:19: train.learning_rate: expected a number of at least 0, got the string \"3e-4\"");
  CHECK(complaint("[model]\nlayers = \"2\"") ==
        "x.toml:2:10: model.layers: expected an integer from 0 to 1e9, got the string \"2\"");
  CHECK(complaint("[model]\ntied = 1") == "x.toml:2:8: model.tied: expected true or false, got 1");
  CHECK(complaint("[model]\nwidth = true") ==
        "x.toml:2:9: model.width: expected an integer from 1 to 1e9, got true");
  CHECK(complaint("[train]\nschedule = 3") ==
        "x.toml:2:12: train.schedule: expected constant or cosine, got 3");
  CHECK(complaint("[model]\ndropout = 1979-05-27") ==
        "x.toml:2:11: model.dropout: expected a number from 0 to 1, got a date or time");
  CHECK(complaint("[model.layers]\ncount = 2") ==
        "x.toml:1:1: model.layers: expected an integer from 0 to 1e9, got a table");
}

TEST_CASE("betas are exactly two numbers") {
  const std::string start = "x.toml:2:9: train.betas: expected two numbers, each from 0 to below 1, got ";
  CHECK(complaint("[train]\nbetas = 0.9") == start + "0.9");
  CHECK(complaint("[train]\nbetas = []") == start + "[]");
  CHECK(complaint("[train]\nbetas = [0.9, 0.98, 0.5]") == start + "[0.9, 0.98, 0.5]");
  CHECK(complaint("[train]\nbetas = [0.9, \"0.98\"]") == start + "[0.9, the string \"0.98\"]");
  CHECK(complaint("[train]\nbetas = [0.9, 1]") == start + "[0.9, 1]");
}

TEST_CASE("a value out of range is refused where it stands") {
  CHECK(complaint("[train]\nbatch = -4") ==
        "x.toml:2:9: train.batch: expected an integer from 1 to 1e9, got -4");
  CHECK(complaint("[train]\nbatch = 1000000001") ==
        "x.toml:2:9: train.batch: expected an integer from 1 to 1e9, got 1000000001");
  CHECK(complaint("[train]\nbatch = 1e300") ==
        "x.toml:2:9: train.batch: expected an integer from 1 to 1e9, got 1e300");
  CHECK(complaint("[train]\nepsilon = 0") ==
        "x.toml:2:11: train.epsilon: expected a number of at least 1e-30, got 0");
  CHECK(complaint("[train]\nmomentum = 1.0") ==
        "x.toml:2:12: train.momentum: expected a number from 0 to below 1, got 1.0");
  CHECK(complaint("[train]\nclip = -0.5") ==
        "x.toml:2:8: train.clip: expected a number of at least 0, got -0.5");
  CHECK(complaint("[train]\ndata_seed = -1") ==
        "x.toml:2:13: train.data_seed: expected an integer of at least 0, got -1");
  CHECK(complaint("[model]\ndropout = 1.5") ==
        "x.toml:2:11: model.dropout: expected a number from 0 to 1, got 1.5");
  CHECK(complaint("[model]\nvocabulary = 1") ==
        "x.toml:2:14: model.vocabulary: expected an integer from 2 to 1e9, got 1");
}

TEST_CASE("infinity, NaN and numbers too large for their type are refused") {
  CHECK(complaint("[train]\nlearning_rate = inf") ==
        "x.toml:2:17: train.learning_rate: expected a number of at least 0, got inf");
  CHECK(complaint("[train]\nclip = nan") ==
        "x.toml:2:8: train.clip: expected a number of at least 0, got nan");
  CHECK(complaint("[train]\nsteps = inf") ==
        "x.toml:2:9: train.steps: expected an integer from 0 to 1e9, got inf");
  CHECK(complaint("[train]\ndata_seed = 1e19") ==
        "x.toml:2:13: train.data_seed: expected an integer of at least 0, got 1e19");
  const std::string beyond = complaint("[train]\nsteps = 99999999999999999999");
  CHECK(beyond.starts_with("x.toml:2:"));
  CHECK(beyond.ends_with("is not representable in 64 bits, in: steps = 99999999999999999999"));
  const std::string huge = complaint("[train]\nlearning_rate = 1e400");
  CHECK(huge.starts_with("x.toml:2:"));
  CHECK(huge.ends_with("in: learning_rate = 1e400"));
}

TEST_CASE("a word that is not one of those allowed is refused with the nearest") {
  CHECK(complaint("[model]\npositions = \"learnt\"") ==
        "x.toml:2:13: model.positions: expected learned, sinusoidal, rotary, alibi or none, got the string "
        "\"learnt\"; the "
        "nearest is \"learned\"");
  CHECK(complaint("[train]\noptimizer = \"AdamW\"") ==
        "x.toml:2:13: train.optimizer: expected adamw, adam or sgd, got the string \"AdamW\"; the nearest is "
        "\"adamw\"");
  const std::string task = complaint("[task]\nname = \"repeated-sequence\"");
  CHECK(task.starts_with("x.toml:2:8: task.name: expected "));
  CHECK(task.ends_with("got the string \"repeated-sequence\"; the nearest is \"repeated_sequence\""));
}

TEST_CASE("an unknown key is refused with the nearest known one") {
  CHECK(complaint("[train]\nsteps = 3\n  learning_rte = 0.01") ==
        "x.toml:3:3: unknown key train.learning_rte; the nearest is train.learning_rate");
  CHECK(complaint("[model]\nn-layers = 2") ==
        "x.toml:2:1: unknown key model.n-layers; the nearest is model.layers");
  CHECK(complaint("[train]\nlearning-rate = 1") ==
        "x.toml:2:1: unknown key train.learning-rate; the nearest is train.learning_rate");
  CHECK(complaint("[model]\nhead.count = 2") ==
        "x.toml:2:1: unknown key model.head; the nearest is model.heads");
}

TEST_CASE("a key in the wrong place is refused with the table it belongs in") {
  CHECK(complaint("learning_rate = 0.01") ==
        "x.toml:1:1: learning_rate stands in no table; it belongs in [train]");
  CHECK(complaint("[model]\nlearning_rate = 0.01") ==
        "x.toml:2:1: unknown key model.learning_rate; it belongs in [train]");
  CHECK(complaint("lerning_rate = 1") ==
        "x.toml:1:1: lerning_rate stands in no table; the nearest is train.learning_rate");
}

TEST_CASE("an unknown table is refused with the nearest known one, even when it is empty") {
  CHECK(complaint("[trian]\nsteps = 3") == "x.toml:1:2: unknown table [trian]; the nearest is [train]");
  CHECK(complaint("[modle]") == "x.toml:1:2: unknown table [modle]; the nearest is [model]");
  CHECK(complaint("[[tasks]]") == "x.toml:1:3: unknown table [tasks]; the nearest is [task]");
  CHECK(complaint("model = 3") == "x.toml:1:1: expected a table [model], got 3");
  CHECK(complaint("[[model]]\nlayers = 2") == "x.toml:1:3: expected a table [model], got [a table]");
}

TEST_CASE("of several mistakes the one of the first line is told") {
  CHECK(complaint("[train]\nwarmup = -1\nbatch = -1\n[model]\nbias = 3")
            .starts_with("x.toml:2:10: train.warmup:"));
}

TEST_CASE("text that is not TOML is refused with its place and its line") {
  CHECK(complaint("[train]\nsteps = 3\nsteps = 4") ==
        "x.toml:3:9: Error while parsing key-value pair: cannot redefine existing integer 'steps', in: steps "
        "= 4");
  CHECK(complaint("[train]\n[model]\n[train]").starts_with("x.toml:3:1: Error while parsing table header: "));
  CHECK(complaint("[train]\n  steps 3\r\n").ends_with("expected '=', saw '3', in: steps 3"));
  CHECK(complaint("[train]\nsteps =").starts_with("x.toml:2:8: "));
  for (const std::string_view text :
       {"[", "[\n", "[[\n", "[.\n", "a.\n", "=\n", "a = [\n", "a = \"", "a = '''x", "]"}) {
    CAPTURE(text);
    CHECK(complaint(text).starts_with("x.toml:1:"));
    CHECK(contains(complaint(text), ", in: "));
  }
  CHECK(complaint(std::string_view("a = 1\0b", 7)).starts_with("x.toml:1:"));
}

TEST_CASE("letters beyond ASCII are welcome in comments and double quotes, and refused elsewhere") {
  CHECK(complaint("\xEF\xBB\xBF# été\n[model] # 学\nlayers = 2 # é\n") == "accepted");
  CHECK(complaint("[model]\n  été = 2") ==
        "x.toml:2:3: expected ASCII outside comments and double quotes, got 'é'");
  CHECK(complaint("[学]") == "x.toml:1:2: expected ASCII outside comments and double quotes, got '学'");
  CHECK(complaint("# é\n[task]\nname = \"é\"")
            .starts_with("x.toml:3:8: task.name: expected repeated_sequence, "));
  CHECK(complaint("[task]\nname = \"#\" \xC2\xA0").starts_with("x.toml:2:"));
}

TEST_CASE("bytes that are not UTF-8 are refused") {
  CHECK(complaint("[model]\nlayers = 2 # caf\xE9\n") == "x.toml:2:17: expected UTF-8, got the byte 0xe9");
  CHECK(complaint("\xFF\xFE") == "x.toml:1:1: expected UTF-8, got the byte 0xff");
  CHECK(complaint("# \xE5\xAD") == "x.toml:1:3: expected UTF-8, got the byte 0xe5");
}

TEST_CASE("an override replaces what the file says, and the last of two counts") {
  const std::vector<std::string> overrides{
      "model.layers=3",     "train.betas=[0.5, 0.75]", "task.name=fixed_period_sequence",
      "model.gelu=\"erf\"", "model.bias=true",         "train.clip = 2.0",
      "train.clip=3"};
  const Config config = parse_config("[model]\nlayers = 1\n[train]\nsteps = 7", "x.toml", overrides);
  CHECK(config.model.layers == 3);
  CHECK(config.train.steps == 7);
  CHECK(config.train.betas == std::array<double, 2>{0.5, 0.75});
  CHECK(config.task.name == "fixed_period_sequence");
  CHECK(config.model.gelu == GeluForm::erf);
  CHECK(config.model.bias);
  CHECK(config.train.clip == 3.0);
}

TEST_CASE("an override is refused for the same reasons as a line of the file") {
  CHECK(complaint("", {"model.layers=2.5"}) ==
        "--set model.layers=2.5: model.layers: expected an integer from 0 to 1e9, got 2.5");
  CHECK(complaint("", {"train.learning_rate=fast"}) ==
        "--set train.learning_rate=fast: train.learning_rate: expected a number of at least 0, got the "
        "string \"fast\"");
  CHECK(complaint("", {"model.layrs=3"}) ==
        "--set model.layrs=3: unknown key model.layrs; the nearest is model.layers");
  CHECK(complaint("", {"layers=3"}) == "--set layers=3: layers stands in no table; it belongs in [model]");
  CHECK(complaint("", {"modle.layers=3"}) ==
        "--set modle.layers=3: unknown table [modle]; the nearest is [model]");
  CHECK(complaint("", {"model.bias=True"}) ==
        "--set model.bias=True: model.bias: expected true or false, got the string \"True\"");
  CHECK(complaint("", {"train.betas=0.9,0.98"}).starts_with("--set train.betas=0.9,0.98: "));
  CHECK(complaint("", {"train.clip=inf"}) ==
        "--set train.clip=inf: train.clip: expected a number of at least 0, got inf");
  CHECK(complaint("[train]\nsteps = -1", {"train.steps=5"}).starts_with("x.toml:2:9: train.steps:"));
}

TEST_CASE("an override that is no assignment or no value is refused") {
  CHECK(complaint("", {"model.layers"}) == "--set model.layers: expected table.key=value");
  CHECK(complaint("", {""}) == "--set : expected table.key=value");
  CHECK(complaint("", {"task.name=é"}) ==
        "--set task.name=é:1:1: expected ASCII outside comments and double quotes, got 'é'");
  for (const std::string text : {"model.layers=", "model.layers=[", "model.layers=#", "model.layers=2 3",
                                 "model.layers=2\nother=3", "model.layers=[\n"}) {
    CAPTURE(text);
    CHECK(complaint("", {text}).starts_with("--set " + text + ": "));
  }
}

TEST_CASE("sizes that do not fit together are refused at the field that was given") {
  CHECK(complaint("[model]\nwidth = 50\nheads = 3") ==
        "x.toml:2:9: model.width: expected a multiple of model.heads (3), got 50");
  CHECK(
      complaint("[model]\nheads = 3") ==
      "x.toml:2:9: model.width: expected a multiple of model.heads (3), got 64 (model.width is the default)");
  CHECK(complaint("[model]\ncontext = 40") ==
        "x.toml:2:11: task.length: expected at most model.context (40), got 48 (task.length is the default)");
  CHECK(complaint("[task]\nlength = 48", {"model.context=40"}) ==
        "--set model.context=40: task.length: expected at most model.context (40), got 48");
  CHECK(complaint("[task]\nperiod_max = 48") ==
        "x.toml:2:14: task.period_max: expected less than task.length (48), got 48 (task.length is the "
        "default)");
  CHECK(complaint("[task]\nperiod_min = 9\nperiod_max = 8") ==
        "x.toml:2:14: task.period_min: expected less than task.period_max (8), got 9");
  CHECK(complaint("[task]\nname = \"fixed_period_sequence\"\nperiod = 48") ==
        "x.toml:3:10: task.period: expected less than task.length (48), got 48 (task.length is the default)");
  CHECK(complaint("[train]\nwarmup = 11\nsteps = 10") ==
        "x.toml:2:10: train.warmup: expected at most train.steps (10), got 11");
}

TEST_CASE("sizes on the edge of fitting together are accepted") {
  CHECK(complaint("[model]\nwidth = 51\nheads = 3\ncontext = 48") == "accepted");
  CHECK(complaint("[task]\nperiod_min = 46\nperiod_max = 47") == "accepted");
  CHECK(complaint("[task]\nname = \"fixed_period_sequence\"\nperiod = 47") == "accepted");
  CHECK(complaint("[train]\nwarmup = 10\nsteps = 10\nbatch = 1") == "accepted");
}

TEST_CASE("a config that fits gives a task") {
  for (const TaskKind& kind : task_kinds()) {
    Config config;
    config.task.name = kind.name;
    config.task.period = config.task.period_max = config.task.length - 1;
    config.model.vocabulary = 200;
    config.task.file = TAPEHEAD_SOURCE_DIR "/README.md";
    CHECK_NOTHROW(validate(config));
    CHECK_NOTHROW(make_task(config.task, config.model.vocabulary));
  }
}

TEST_CASE(
    "a text needs a path, which may hold any letters, as a string in a file and as it stands in an "
    "override") {
  CHECK(complaint("[task]\nname = \"text\"") ==
        "x.toml:2:8: task.file: expected the path of a text, got nothing (task.file is the default)");
  CHECK(parse_config("[task]\nname = \"text\"\nfile = \"Bücher/学.txt\"  # ü", "x").task.file ==
        "Bücher/学.txt");
  CHECK(parse_config("[task]\nfile = \"\"\"\\\n  \\\\é😀\"\"\"", "x").task.file == "\\é😀");
  for (const char* path : {"data/kjv.txt", "it's here.txt", "true", "1.5", "a\\b", "été.txt"}) {
    CAPTURE(path);
    const std::vector<std::string> override{std::string("task.file=") + path};
    const Config config = parse_config("", "x", override);
    CHECK(config.task.file == path);
    CHECK(parse_config(to_toml(config), "x") == config);
  }
  const std::vector<std::string> quoted{"task.file=\"a \\\"b\\\".txt\""};
  CHECK(parse_config("", "x", quoted).task.file == "a \"b\".txt");
  CHECK(complaint("[task]\nfile = \"a\\u0007b\"")
            .find("task.file: expected text in UTF-8, in quotes, of at most 3000 bytes, got") !=
        std::string::npos);
  CHECK(complaint("[task]\nfile = 3") ==
        "x.toml:2:8: task.file: expected text in UTF-8, in quotes, of at most 3000 bytes, got 3");
}

TEST_CASE("repeated sequences of one period are refused, and the honest name is told") {
  CHECK(
      complaint("[task]\nperiod_min = 12\nperiod_max = 12") ==
      "x.toml:2:14: task.period_min: expected less than task.period_max (12), got 12: with one period for "
      "all, one layer solves the task by position; if that is wanted, the task is \"fixed_period_sequence\"");
  CHECK(complaint("[task]\nname = \"fixed_period_sequence\"\nperiod_min = 12\nperiod_max = 12") ==
        "accepted");
}

TEST_CASE("a config built in code is held to the same ranges and the same fit") {
  Config config;
  const auto said = [&] { return complaint_of([&] { validate(config); }); };
  CHECK(said() == "accepted");
  config.model.heads = 0;
  CHECK(said() == "[config] model.heads: expected an integer from 1 to 1e9, got 0");
  config.model.heads = 5;
  CHECK(said() == "[config] model.width: expected a multiple of model.heads (5), got 64");
  config.model.heads = 2;
  config.train.learning_rate = std::nan("");
  CHECK(said() == "[config] train.learning_rate: expected a number of at least 0, got nan");
  config.train.learning_rate = 1;
  config.train.data_seed = std::uint64_t{1} << 63;
  CHECK(said().starts_with("[config] train.data_seed: "));
  config.train.data_seed = 1;
  config.train.optimizer = "adagrad";
  CHECK(said().starts_with("[config] train.optimizer: expected adamw, adam or sgd, got \"adagrad\""));
  CHECK_THROWS_AS(to_toml(config), UsageError);
}

TEST_CASE("a saved config reads back as the same config") {
  CHECK(parse_config(to_toml(Config{}), "x.toml") == Config{});
  Config config;
  config.model = {.vocabulary = 50257,
                  .context = 1024,
                  .width = 768,
                  .heads = 12,
                  .layers = 12,
                  .feed_forward = 3072,
                  .norm = NormKind::rms,
                  .qkv_bias = true,
                  .bias = true,
                  .tied = true,
                  .positions = Positions::alibi,
                  .activation = Activation::swiglu,
                  .gelu = GeluForm::erf,
                  .attention = AttentionForm::tiled,
                  .scores = ScoreForm::bilinear,
                  .scaled_scores = false,
                  .query_key_norm = true,
                  .smeared_keys = true,
                  .initialisation = Initialisation::gpt2};
  config.task = {
      .name = "fixed_period_sequence", .length = 1000, .period_min = 3, .period_max = 2, .period = 7};
  config.train.optimizer = "sgd";
  config.train.schedule = "cosine";
  config.train.dropout_seed = 9223372036854775807u;
  config.train.betas = {0.1 + 0.2, 0.99999999999999988};
  CHECK(parse_config(to_toml(config), "x.toml") == config);
}

TEST_CASE("a saved config keeps every digit of a number") {
  for (const double value :
       {3e-4, 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 1e5, 1.0, 0.0, 123456.789, 1e22}) {
    CAPTURE(value);
    Config config;
    config.train.weight_decay = value;
    CHECK(parse_config(to_toml(config), "x.toml") == config);
  }
  CHECK(contains(to_toml(Config{}), "\nlearning_rate = 0.003\n"));
  CHECK(contains(to_toml(Config{}), "\nepsilon = 1e-8\n"));
  CHECK(contains(to_toml(Config{}), "\nclip = 1.0\n"));
}

TEST_CASE("the help text tells type, range, default and meaning of a field within 100 columns") {
  const std::string text = describe_fields();
  CHECK(contains(text, "\n  heads: an integer from 1 to 1e9; default 2\n      Attention heads a layer."));
  CHECK(contains(text, "\n  betas: two numbers, each from 0 to below 1; default [0.9, 0.98]\n"));
  CHECK(contains(text, "\n  positions: learned, sinusoidal, rotary, alibi or none; default \"learned\"\n"));
  CHECK(text.starts_with("[model]\n"));
  CHECK(contains(text, "\n\n[task]\n"));
  CHECK(contains(text, "\n\n[train]\n"));
  CHECK(contains(text, "\n\n[[intervention]] (none, one or several)\n  site: text in UTF-8"));
  CHECK(contains(text,
                 "\n  checkpoint_steps: a list of at most 64 integers, each from 0 to 1e9; default []\n"));
  for (const std::string& page : {text, to_toml(Config{})}) {
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
  }
}

TEST_CASE("a file that is missing, or is a directory, is refused by name") {
  const auto said = [](const std::string& file) { return complaint_of([&] { read_config(file); }); };
  CHECK(said("configs/no-such.toml") == "configs/no-such.toml: no such file");
  CHECK(said(kSource + "/configs") == kSource + "/configs: expected a TOML file, got a directory");
}

TEST_CASE("a config of more than 24 KiB is refused, as a file and as text") {
  const testing::Folder folder;
  const std::filesystem::path file = folder / "x.toml";
  const std::string longest = "#" + std::string(24 * 1024 - 1, 'x');
  testing::put(file, longest);
  CHECK(read_config(file) == Config{});
  CHECK(complaint(longest) == "accepted");
  const std::string expected = "expected a config of at most 24576 bytes";
  for (const std::string& more : {std::string("x"), std::string(100'000, '\n')}) {
    testing::put(file, longest + more);
    CHECK(complaint_of([&] { read_config(file); }) == file.string() + ": " + expected);
    CHECK(complaint(longest + more) == "x.toml: " + expected);
  }
}

TEST_CASE("tables inside tables are refused, however deep") {
  std::string deep;
  for (int level = 0; level < 12000; ++level) deep += "a.";
  CHECK(complaint(deep + "a = 1") == "x.toml:1:1: unknown table [a]; the nearest is [task]");
  CHECK(complaint("[" + deep + "a]") == "x.toml:1:2: unknown table [a]; the nearest is [task]");
  CHECK(contains(complaint("a = " + std::string(12000, '[')), "nested value depth"));
}

TEST_CASE("errors name the file as it was given") {
  const auto file = std::filesystem::temp_directory_path() /
                    (sizeof(Real) == 8 ? "tapehead-config-double.toml" : "tapehead-config-float.toml");
  std::ofstream(file) << "[model]\nlayrs = 2\n";
  CHECK(complaint_of([&] { read_config(file); }) ==
        file.string() + ":2:1: unknown key model.layrs; the nearest is model.layers");
  std::filesystem::remove(file);
}

TEST_CASE("the configs of the copy experiments are the recipe and its two one-layer twins") {
  const std::string folder = kSource + "/configs/";
  Config recipe;
  recipe.model = {.vocabulary = 64, .context = 48, .width = 64, .heads = 2, .layers = 2};
  recipe.task = {.name = "repeated_sequence", .length = 48, .period_min = 6, .period_max = 24};
  recipe.train.batch = 16;
  recipe.train.learning_rate = 8e-3;
  recipe.train.evaluation_interval = 10;
  // With a film of the heads as they form.
  recipe.train.ring_snapshots = 24;
  recipe.train.ring_interval = 20;
  CHECK(read_config(folder + "induction.toml") == recipe);
  recipe.train.ring_snapshots = 0;
  recipe.train.ring_interval = 1;
  recipe.model.layers = 1;
  CHECK(read_config(folder + "induction-one-layer.toml") == recipe);
  recipe.task.name = "fixed_period_sequence";
  recipe.task.period = 12;
  CHECK(read_config(folder + "fixed-period-one-layer.toml") == recipe);
}

namespace {

const std::string kSite = "site = \"blocks.0.attention.head_output\"";
const std::string kHead = "[[intervention]]\n" + kSite + "\n";

}  // namespace

TEST_CASE("interventions are tables in double brackets, in their order, and none by default") {
  CHECK(Config{}.interventions.empty());
  const Config config = parse_config("[train]\nsteps = 90\n" + kHead + "head = 1\nfrom = 3\nto = 7\n" +
                                         kHead + "kind = \"scale\"\nfactor = 2\n[model]\nlayers = 1",
                                     "x.toml");
  const std::vector<Intervention> expected{
      {.site = "blocks.0.attention.head_output", .head = 1, .from = 3, .to = 7},
      {.site = "blocks.0.attention.head_output", .kind = "scale", .factor = 2}};
  CHECK(config.interventions == expected);
  CHECK(config.train.steps == 90);
  CHECK(config.model.layers == 1);
  CHECK(parse_config(to_toml(config), "x.toml") == config);
  CHECK(parse_config("intervention = [{" + kSite + "}]", "x.toml").interventions.size() == 1);
}

TEST_CASE("an override replaces all interventions, and an empty list clears them") {
  const std::string text = kHead + kHead;
  const std::vector<std::string> one{"intervention=[{" + kSite + ", kind=\"mean\"}]"};
  CHECK(parse_config(text, "x", one).interventions ==
        std::vector<Intervention>{{.site = "blocks.0.attention.head_output", .kind = "mean"}});
  const std::vector<std::string> none{one[0], "intervention = []"};
  CHECK(parse_config(text, "x", none) == Config{});
  CHECK(complaint(text + "head = 5", none) == "accepted");
}

TEST_CASE("a mistake in an intervention is refused where it stands") {
  CHECK(complaint(kHead + "  haed = 1") ==
        "x.toml:3:3: unknown key intervention.haed; the nearest is "
        "intervention.head");
  CHECK(complaint(kHead + kHead + "head = 1.5") ==
        "x.toml:5:8: intervention[1].head: expected an integer from -1 to 1e9, got 1.5");
  CHECK(complaint(kHead + "kind = \"zeor\"") ==
        "x.toml:3:8: intervention[0].kind: expected zero, scale, mean, uniform or previous_token, got the "
        "string "
        "\"zeor\"; the nearest is \"zero\"");
  CHECK(complaint("[intervention]\n" + kSite) ==
        "x.toml:1:2: expected a list of tables, each [[intervention]] in double brackets, got a table");
  CHECK(complaint("intervention = [3]") == "x.toml:1:1: intervention[0]: expected a table, got 3");
  CHECK(complaint("[[interventions]]\n" + kSite) ==
        "x.toml:1:3: unknown table [interventions]; the nearest is [[intervention]]");
  CHECK(complaint("", {"intervention=7"}) ==
        "--set intervention=7: expected a list of tables, each [[intervention]] in double brackets, got 7");
  CHECK(complaint("", {"intervention.head=7"}) ==
        "--set intervention.head=7: interventions are set all at once: --set 'intervention=[{site = \"...\", "
        "kind "
        "= \"zero\"}]'");
  CHECK(complaint("[train]\nbatch = -1\n" + kHead + "head = x").starts_with("x.toml:5:"));
  CHECK(complaint("[train]\nbatch = -1\n" + kHead + "head = -2").starts_with("x.toml:2:9: train.batch:"));
}

TEST_CASE("an intervention that the model has no place for, or that means nothing, is refused") {
  const auto refused = [](const std::string& lines) { return complaint("[[intervention]]\n" + lines); };
  CHECK(refused("") ==
        "x.toml:1:1: intervention[0].site: expected a site such as "
        "\"blocks.0.attention.head_output\", got nothing (intervention[0].site is the default)");
  CHECK(refused("site = \"blocks.0.attention.haed_output\"") ==
        "x.toml:2:8: intervention[0].site: no site blocks.0.attention.haed_output; the nearest is "
        "blocks.0.attention.head_output");
  CHECK(
      refused("site = \"blocks.2.residual_after\"") ==
      "x.toml:2:8: intervention[0].site: expected a layer below model.layers (2), got 2 (model.layers is the "
      "default)");
  CHECK(contains(refused("site = \"blocks.0.feed_forward.output\""), "which has no feed-forward part"));
  CHECK(contains(refused("site = \"blocks.0.attention.keys[1]\""), "with head = 1 beside it"));
  CHECK(refused(kSite + "\nhead = 2") ==
        "x.toml:3:8: intervention[0].head: expected less than model.heads (2), got 2 (model.heads is the "
        "default)");
  CHECK(refused("site = \"embedding\"\nhead = 0") ==
        "x.toml:3:8: intervention[0].head: expected -1 (all), since embedding has no heads, got 0");
  for (const char* kind : {"uniform", "previous_token"}) {
    CHECK(contains(refused(kSite + "\nkind = \"" + kind + "\""),
                   "x.toml:3:8: intervention[0].kind: expected a site"));
    CHECK(refused(std::string("site = \"blocks.1.attention.pattern\"\nkind = \"") + kind + "\"") ==
          "accepted");
  }
  CHECK(refused("site = \"logits\"").starts_with("x.toml:2:8: intervention[0].kind: "));
  CHECK(refused("site = \"logits\"\nkind = \"mean\"") == "accepted");
  CHECK(contains(refused("site = \"logits\"\nkind = \"scale\"\nfactor = 0"), "not zero at the logits"));
  CHECK(refused("site = \"logits\"\nkind = \"scale\"\nfactor = -1") == "accepted");
  CHECK(refused(kSite + "\nkind = \"scale\"").starts_with("x.toml:3:8: intervention[0].factor: "));
  CHECK(refused(kSite + "\nfactor = 2").starts_with("x.toml:3:10: intervention[0].factor: "));
  CHECK(
      refused(kSite + "\nfrom = 2000") ==
      "x.toml:3:8: intervention[0].from: expected less than train.steps (2000), got 2000 (train.steps is the "
      "default)");
  CHECK(refused(kSite + "\nfrom = 5\nto = 5") ==
        "x.toml:4:6: intervention[0].to: expected more than from (5), or -1, got 5");
  CHECK(refused(kSite + "\nfrom = 5\nto = 6") == "accepted");
}

TEST_CASE("a config of the longest texts and lists is one that is read") {
  Config config;
  config.task.name = "text";
  config.task.file = config.task.tokenizer = std::string(3000, '"');
  config.train.steps = 1'000'000'000;
  config.train.checkpoint_steps = std::vector<Index>(64, 999'999'999);
  config.interventions = std::vector<Intervention>(16, {.site = "blocks.0.attention.head_output",
                                                        .head = 0,
                                                        .kind = "scale",
                                                        .factor = -1.0000000000000002e-5,
                                                        .from = 99'999'998,
                                                        .to = 999'999'999});
  CHECK(parse_config(to_toml(config), "x.toml") == config);
  config.interventions.push_back(config.interventions.front());
  CHECK(complaint_of([&] { validate(config); }) ==
        "[config] intervention[16]: expected at most 16 interventions, got 17");
}

TEST_CASE("interventions built in code are held to the same ranges") {
  Config config;
  config.interventions = {{.site = "embedding", .head = -2}};
  CHECK(complaint_of([&] { validate(config); }) ==
        "[config] intervention[0].head: expected an integer from -1 to 1e9, got -2");
}
