#include "tapehead/train/checkpoint.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "support/folder.h"
#include "support/functions.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/base/require.h"
#include "tapehead/base/version.h"
#include "tapehead/tensor/safetensors.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

namespace fs = std::filesystem;

/// One fresh optimizer of each kind.
std::vector<std::unique_ptr<Optimizer>> one_of_each() {
  std::vector<std::unique_ptr<Optimizer>> list;
  list.push_back(std::make_unique<Sgd>(Sgd::Config{.momentum = 0.9}));
  list.push_back(std::make_unique<Adam>(AdamConfig{}));
  list.push_back(std::make_unique<AdamW>(AdamConfig{}));
  return list;
}

void take_steps(Transformer& model, Optimizer& optimizer, int count) {
  for (int i = 0; i < count; ++i)
    optimizer.step(model.parameters(), random_tensor({model.parameters().count()}, 7));
}

/// A saved model after three steps of AdamW, and what stands in its file, to be changed and written again.
struct Saved {
  Saved() : model(config.model, 5), optimizer(AdamConfig{}), file(folder / "saved.safetensors") {
    take_steps(model, optimizer, 3);
    save_checkpoint(file, config, model, optimizer, 3);
    const SafetensorsFile archive(file);
    metadata = archive.metadata();
    for (const SafetensorsEntry& entry : archive.entries())
      tensors.insert_or_assign(entry.name, archive.read(entry.name));
  }

  /// Writes the tensors and metadata as they now are.
  fs::path damaged() const {
    std::vector<NamedTensor> list;
    for (const auto& [name, tensor] : tensors) list.push_back({name, tensor.shape(), tensor.data()});
    write_safetensors(folder / "damaged.safetensors", list, metadata);
    return folder / "damaged.safetensors";
  }

  /// What loading complains of after the file's name, or "accepted".
  std::string complaint() const {
    const fs::path path = damaged();
    try {
      load_checkpoint(path);
    } catch (const Error& error) {
      const std::string text = error.what();
      const std::size_t name = text.find(path.string());
      REQUIRE(name != std::string::npos);
      return text.substr(name + path.string().size());
    }
    return "accepted";
  }

  Folder folder;
  Config config = tiny_config();
  Transformer model;
  AdamW optimizer;
  fs::path file;
  std::map<std::string, std::string> metadata;
  std::map<std::string, Tensor> tensors;
};

}  // namespace

TEST_CASE("a checkpoint gives back the config, the step and every bit of the model and the optimizer") {
  for (std::size_t kind = 0; kind < 3; ++kind) {
    CAPTURE(kind);
    const std::unique_ptr<Optimizer> optimizer = std::move(one_of_each()[kind]);
    const std::unique_ptr<Optimizer> fresh = std::move(one_of_each()[kind]);
    const Folder folder;
    const Config config = tiny_config();
    Transformer model(config.model, 5);
    take_steps(model, *optimizer, 3);
    save_checkpoint(folder / "a.safetensors", config, model, *optimizer, 1003);

    const Checkpoint loaded = load_checkpoint(folder / "a.safetensors");
    CHECK(loaded.config == config);
    CHECK(loaded.step == 1003);
    CHECK(loaded.model.config() == config.model);
    CHECK(same_bits(loaded.model.parameters(), model.parameters()));

    restore_optimizer(folder / "a.safetensors", loaded.model.parameters(), *fresh);
    CHECK(fresh->steps() == 3);
    CHECK(same_bits(*fresh, *optimizer));
  }
}

TEST_CASE("a checkpoint before the first step has no averages, and gives back none") {
  const Folder folder;
  const Config config = tiny_config();
  const Transformer model(config.model, 5);
  save_checkpoint(folder / "a.safetensors", config, model, AdamW(AdamConfig{}), 0);
  CHECK(SafetensorsFile(folder / "a.safetensors").entries().size() == model.parameters().entries().size());

  AdamW optimizer(AdamConfig{});
  restore_optimizer(folder / "a.safetensors", model.parameters(), optimizer);
  CHECK(optimizer.steps() == 0);
  CHECK(optimizer.state()[0].values.count() == 0);
  CHECK(same_bits(load_checkpoint(folder / "a.safetensors").model.parameters(), model.parameters()));
}

TEST_CASE("numbers that text would lose survive: negative zero, the smallest, infinity and NaN") {
  const Folder folder;
  const Config config = tiny_config();
  Transformer model(config.model, 5);
  const std::vector<Real> odd{-Real(0), std::numeric_limits<Real>::denorm_min(),
                              -std::numeric_limits<Real>::infinity(), std::numeric_limits<Real>::quiet_NaN()};
  std::copy(odd.begin(), odd.end(), model.parameters().change().begin());
  save_checkpoint(folder / "a.safetensors", config, model, AdamW(AdamConfig{}), 0);
  CHECK(same_bits(load_checkpoint(folder / "a.safetensors").model.parameters(), model.parameters()));
}

TEST_CASE("the file holds each parameter under its name with its averages, and tells what made it") {
  const Saved saved;
  CHECK(saved.tensors.size() == 3 * saved.model.parameters().entries().size());
  const Shape qkv{24, 8};
  CHECK(saved.tensors.at("blocks.1.attention.qkv.weight").shape() == qkv);
  CHECK(saved.tensors.at("optimizer.first_moment.blocks.1.attention.qkv.weight").shape() == qkv);
  CHECK(saved.tensors.at("optimizer.second_moment.blocks.1.attention.qkv.weight").shape() == qkv);
  CHECK(saved.metadata == std::map<std::string, std::string>{{"config", to_toml(saved.config)},
                                                             {"step", "3"},
                                                             {"optimizer_steps", "3"},
                                                             {"task", "repeated_sequence"},
                                                             {"data", ""},
                                                             {"checksum", saved.metadata.at("checksum")},
                                                             {"tapehead_version", version()}});
}

TEST_CASE("every flipped bit of a checkpoint is found") {
  const Saved saved;
  const std::string whole = text_of(saved.file);
  Generator generator(1);
  int accepted = 0;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = whole;
    const auto at = static_cast<std::size_t>(generator.below(static_cast<Index>(whole.size())));
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << generator.below(8)));
    CAPTURE(at);
    put(saved.file, damaged);
    // A file whose checksum has lost its name is believed, and nothing else in it is another.
    const std::string words =
        failure_of([&] { accepted += load_checkpoint(saved.file).step == 3 ? 1 : 100; });
    if (words == "done")
      CHECK(same_bits(load_checkpoint(saved.file).model.parameters(), saved.model.parameters()));
  }
  CHECK(accepted <= 3);
  put(saved.file, whole);
  CHECK(load_checkpoint(saved.file).step == 3);
}

TEST_CASE("a tied table is saved once and read into both its uses") {
  const Saved saved;
  CHECK(saved.config.model.tied);
  CHECK_FALSE(saved.tensors.contains("unembedding.weight"));
  const Tokens ids(1, 3, {1, 2, 3});
  CHECK(same_bits(load_checkpoint(saved.file).model(Pass(), ids).value(), saved.model(Pass(), ids).value()));
}

TEST_CASE("a tied model does not take a file with a table for each use") {
  Saved saved;
  saved.tensors.insert_or_assign("unembedding.weight", Tensor({8, 8}));
  CHECK(saved.complaint() ==
        " does not hold the model its config describes:\n  unexpected: \"unembedding.weight\"");
}

TEST_CASE("missing, misshapen and unexpected parameters are listed all at once") {
  Saved saved;
  saved.tensors.erase("embedding.weight");
  saved.tensors.erase("blocks.0.attention.output.bias");
  saved.tensors.insert_or_assign("blocks.1.attention.qkv.weight", Tensor({8, 24}));
  saved.tensors.insert_or_assign("final_norm.gain", Tensor({1, 8}));
  saved.tensors.insert_or_assign("blocks.2.attention.qkv.weight", Tensor({24, 8}));
  saved.tensors.insert_or_assign("wte", Tensor({1}));
  CHECK(saved.complaint() ==
        " does not hold the model its config describes:"
        "\n  missing: embedding.weight (8, 8)"
        "\n  missing: blocks.0.attention.output.bias (8)"
        "\n  shape: blocks.1.attention.qkv.weight should be (24, 8), is (8, 24)"
        "\n  shape: final_norm.gain should be (8), is (1, 8)"
        "\n  unexpected: \"blocks.2.attention.qkv.weight\""
        "\n  unexpected: \"wte\"");
}

TEST_CASE("averages that are missing, misshapen or another optimizer's are refused") {
  Saved saved;
  const auto restore = [&](Optimizer& optimizer) {
    restore_optimizer(saved.damaged(), saved.model.parameters(), optimizer);
  };
  AdamW adamw(AdamConfig{});
  CHECK_NOTHROW(restore(adamw));
  CHECK(same_bits(adamw, saved.optimizer));

  Sgd sgd(Sgd::Config{});
  CHECK_THROWS_AS(restore(sgd), Error);
  CHECK(sgd.steps() == 0);
  const std::string name = "optimizer.first_moment.final_norm.gain";
  saved.tensors.insert_or_assign(name, Tensor({2, 4}));
  AdamW other(AdamConfig{});
  CHECK_THROWS_WITH_AS(restore(other),
                       ("[checkpoint] " + saved.damaged().string() +
                        ": first_moment of final_norm.gain should be (8), is (2, 4)")
                           .c_str(),
                       Error);
  saved.tensors.erase(name);
  CHECK_THROWS_AS(restore(other), Error);
  CHECK(other.steps() == 0);
}

TEST_CASE("an archive without the metadata of a checkpoint is refused by name") {
  for (const char* key : {"config", "step"}) {
    Saved saved;
    saved.metadata.erase(key);
    CHECK(saved.complaint() == " has no " + std::string(key) + " in its metadata: not a Tapehead checkpoint");
  }
  Saved saved;
  saved.metadata.erase("optimizer_steps");
  AdamW optimizer(AdamConfig{});
  CHECK_THROWS_AS(restore_optimizer(saved.damaged(), saved.model.parameters(), optimizer), Error);
}

TEST_CASE("a count in the metadata that is none is refused with what it says") {
  for (const char* text : {"", "x", "3x", " 3", "3.0", "-1", "99999999999999999999"}) {
    CAPTURE(text);
    Saved saved;
    saved.metadata["step"] = text;
    CHECK(saved.complaint() == ": expected a count for step, got \"" + std::string(text) + "\"");
    saved.metadata["step"] = "3";
    saved.metadata["optimizer_steps"] = text;
    AdamW optimizer(AdamConfig{});
    CHECK_THROWS_AS(restore_optimizer(saved.damaged(), saved.model.parameters(), optimizer), Error);
  }
}

TEST_CASE("a config in the metadata that cannot be understood is refused with its place") {
  Saved saved;
  saved.metadata["config"] = "[model]\nlayer = 2\n";
  CHECK(saved.complaint() == ":2:1: unknown key model.layer; the nearest is model.layers");
  saved.metadata["config"] = "[model\n";
  CHECK(saved.complaint() != "accepted");
  // The model of another config is not the one in the file.
  saved.metadata["config"] = to_toml(Config{});
  CHECK(saved.complaint().starts_with(" does not hold the model its config describes:"));
}

TEST_CASE("a config whose tables of positions are far larger than the file is refused before they are made") {
  Saved saved;
  Config config = saved.config;
  config.model.positions = Positions::rotary;
  config.model.context = 1'000'000'000;
  saved.metadata["config"] = to_toml(config);
  CHECK(saved.complaint().find("describes a context of 1000000000 positions") != std::string::npos);
  config.model.positions = Positions::alibi;  // which has no table
  saved.metadata["config"] = to_toml(config);
  CHECK(saved.complaint().starts_with(" does not hold the model its config describes:"));
}

TEST_CASE("what is not an archive, or is not there, is an error") {
  const Folder folder;
  put(folder / "a.safetensors", "not an archive");
  CHECK_THROWS_AS(load_checkpoint(folder / "a.safetensors"), Error);
  CHECK_THROWS_AS(load_checkpoint(folder / "b.safetensors"), Error);

  const Saved saved;
  put(folder / "half.safetensors", text_of(saved.file).substr(0, text_of(saved.file).size() / 2));
  CHECK_THROWS_AS(load_checkpoint(folder / "half.safetensors"), Error);
}

TEST_CASE("a folder that is not there is an error, and nothing is left behind") {
  const Saved saved;
  CHECK_THROWS_AS(
      save_checkpoint(saved.folder / "missing/a.safetensors", saved.config, saved.model, saved.optimizer, 3),
      Error);
  CHECK(std::distance(fs::directory_iterator(saved.folder.path()), {}) == 1);
}
