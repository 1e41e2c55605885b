#include "tapehead/exchange/gpt2.h"

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "exchange/foreign.h"
#include "support/models.h"
#include "support/reference.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/nn/sinusoids.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

namespace fs = std::filesystem;

/// A golden model, to be damaged: what stands in its files, and what an import of them complains of.
struct Damaged {
  explicit Damaged(const std::string& name = "gpt2-tied")
      : config(text_of(golden(name) / "config.json")),
        tensors(read_raw(golden(name) / "model.safetensors")) {}

  void write() const {
    put(folder / "config.json", config);
    write_raw(folder / "model.safetensors", tensors);
  }
  /// Replaces a piece of config.json.
  void say(const std::string& old, const std::string& now) {
    const std::size_t at = config.find(old);
    REQUIRE(at != std::string::npos);
    config.replace(at, old.size(), now);
  }
  /// The message without the folder's name, or "accepted".
  std::string complaint() const {
    write();
    try {
      import_gpt2(folder.path());
    } catch (const Error& error) {
      std::string text = error.what();
      const std::string path = folder.path().string() + "/";
      for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path))
        text.erase(at, path.size());
      return text;
    }
    return "accepted";
  }

  Folder folder;
  std::string config;
  RawTensors tensors;
};

const std::string kFaults = "[gpt2] model.safetensors does not hold the model that config.json describes:";

std::string in(const std::string& name) { return "transformer." + name; }

std::string float_bytes(std::initializer_list<float> values) {
  return raw_tensor<float>("F32", {}, std::vector<float>(values)).bytes;
}

/// A GPT-2 of one block, whose width is its feed-forward width, with zeros everywhere.
struct Zeros {
  Zeros(Index width, Index heads) {
    const std::string text =
        R"({{"n_layer": 1, "n_head": {}, "n_embd": {}, "n_inner": {}, "vocab_size": 3, "n_positions": 4}})";
    config = fmt::format(fmt::runtime(text), heads, width, width);
    table("wte.weight", {3, width});
    table("wpe.weight", {4, width});
    for (const char* norm : {"h.0.ln_1", "h.0.ln_2", "ln_f"}) {
      table(std::string(norm) + ".weight", {width});
      table(std::string(norm) + ".bias", {width});
    }
    for (const auto& [name, outputs] :
         {std::pair("h.0.attn.c_attn", 3 * width), std::pair("h.0.attn.c_proj", width),
          std::pair("h.0.mlp.c_fc", width), std::pair("h.0.mlp.c_proj", width)}) {
      table(std::string(name) + ".weight", {width, outputs});
      table(std::string(name) + ".bias", {outputs});
    }
  }
  void table(const std::string& name, const std::vector<Index>& shape) {
    Index count = 1;
    for (const Index size : shape) count *= size;
    tensors[name] = raw_tensor<float>("F32", shape, std::vector<float>(static_cast<std::size_t>(count)));
  }
  Transformer model() const {
    const Folder folder;
    put(folder / "config.json", config);
    write_raw(folder / "model.safetensors", tensors);
    return import_gpt2(folder.path()).model;
  }

  std::string config;
  RawTensors tensors;
};

}  // namespace

TEST_CASE("an imported model has PyTorch's logits and attention patterns") {
  for (const char* name : {"gpt2-tied", "gpt2-tied-bf16", "gpt2-untied-f16"}) {
    CAPTURE(name);
    const ImportedModel imported = import_gpt2(golden(name));
    const SafetensorsFile reference(golden(name) / "reference.safetensors");
    // PyTorch computed in float.
    check_same_model(imported.model, ids_of(reference.read("tokens")), reference, 1e-5);
    CHECK(imported.folder == golden(name));
  }
}

TEST_CASE("config.json decides sizes, head, GELU and dropout") {
  const ModelConfig tied = import_gpt2(golden("gpt2-tied")).model.config();
  ModelConfig expected{.vocabulary = 11,
                       .context = 8,
                       .width = 8,
                       .heads = 2,
                       .layers = 2,
                       .feed_forward = 32,
                       .norm = NormKind::layer,
                       .qkv_bias = true,
                       .bias = true,
                       .tied = true,
                       .dropout = 0.1,
                       .initialisation = Initialisation::gpt2};
  CHECK(tied == expected);
  const ImportedModel uneven = import_gpt2(golden("gpt2-tied-bf16"));
  expected.dropout = 0;
  CHECK(uneven.model.config() == expected);
  CHECK(uneven.notes ==
        std::vector<std::string>{
            "resid_pdrop, embd_pdrop and attn_pdrop differ (0, 0.2, 0.1), and a model of ours has "
            "one dropout for all: it is 0"});
  const ImportedModel untied = import_gpt2(golden("gpt2-untied-f16"));
  expected = tied;
  expected.feed_forward = 12;
  expected.tied = false;
  expected.gelu = GeluForm::erf;
  CHECK(untied.model.config() == expected);
  CHECK(untied.notes.empty());
}

TEST_CASE("an exported model comes back with the same bits and the same logits") {
  for (const ModelConfig& config : variants(small_gpt2())) {
    const Folder folder;
    const Transformer model = random_model(config, 5);
    export_gpt2(model, folder / "out");
    const ImportedModel back = import_gpt2(folder / "out");
    CHECK(back.notes.empty());
    for (const Parameters::Entry& entry : back.model.parameters().entries()) {
      CAPTURE(entry.name);
      const Tensor value = parameter_value(back.model, entry.name);
      const auto& ours = model.parameters().entries();
      if (std::ranges::any_of(ours, [&](const auto& other) { return other.name == entry.name; }))
        CHECK(same_bits(value, parameter_value(model, entry.name)));
      else if (config.positions == Positions::sinusoidal && entry.name == "positions.weight")
        CHECK(same_bits(value, sinusoids(config.context, config.width)));
      else
        CHECK(same_bits(value, Tensor(entry.shape)));
    }
    CHECK(back.model.parameters().entries().size() >= model.parameters().entries().size());
    const Tokens ids = random_tokens(3, config.context, config.vocabulary, 2);
    check_within(back.model(Pass(), ids).value(), model(Pass(), ids).value(), 0);
    ModelConfig expected = config;
    expected.qkv_bias = expected.bias = true;
    expected.positions = Positions::learned;
    CHECK(back.model.config() == expected);
  }
}

TEST_CASE("PyTorch computes the same from an exported model, by the layout alone") {
  const Folder folder;
  std::vector<Exported> all;
  for (const ModelConfig& config : variants(small_gpt2())) {
    all.push_back({random_model(config, 5), folder / std::to_string(all.size())});
    if (config.layers == 0) {
      all.pop_back();
      continue;
    }
    export_gpt2(all.back().model, all.back().folder);
  }
  CHECK(all.size() == 19);
  check_in_pytorch(all);
}

TEST_CASE("an exported folder has the names, shapes and metadata that GPT2LMHeadModel reads") {
  const Folder folder;
  ModelConfig config = small_gpt2();
  config.layers = 1;
  export_gpt2(random_model(config), folder / "tied");
  config.tied = false;
  export_gpt2(random_model(config), folder / "untied");
  const auto listing = [&](const char* name) {
    std::string text;
    const SafetensorsFile archive(folder / name / "model.safetensors");
    for (const SafetensorsEntry& entry : archive.entries())
      text += fmt::format("{} ({})\n", entry.name, fmt::join(entry.shape, ", "));
    CHECK(archive.metadata() == std::map<std::string, std::string>{{"format", "pt"}});
    return text;
  };
  const std::string body =
      "transformer.h.0.attn.c_attn.bias (24)\n"
      "transformer.h.0.attn.c_attn.weight (8, 24)\n"
      "transformer.h.0.attn.c_proj.bias (8)\n"
      "transformer.h.0.attn.c_proj.weight (8, 8)\n"
      "transformer.h.0.ln_1.bias (8)\n"
      "transformer.h.0.ln_1.weight (8)\n"
      "transformer.h.0.ln_2.bias (8)\n"
      "transformer.h.0.ln_2.weight (8)\n"
      "transformer.h.0.mlp.c_fc.bias (12)\n"
      "transformer.h.0.mlp.c_fc.weight (8, 12)\n"
      "transformer.h.0.mlp.c_proj.bias (8)\n"
      "transformer.h.0.mlp.c_proj.weight (12, 8)\n"
      "transformer.ln_f.bias (8)\n"
      "transformer.ln_f.weight (8)\n"
      "transformer.wpe.weight (10, 8)\n"
      "transformer.wte.weight (7, 8)\n";
  CHECK(listing("tied") == body);
  CHECK(listing("untied") == "lm_head.weight (7, 8)\n" + body);
  // The two files and nothing else.
  CHECK(std::distance(fs::directory_iterator(folder / "tied"), {}) == 2);
}

TEST_CASE("a square matrix is turned over as well: it is stored inputs by outputs") {
  Zeros zeros(2, 1);
  zeros.tensors["h.0.attn.c_proj.weight"] = raw_tensor<float>("F32", {2, 2}, {1, 2, 3, 4});
  zeros.tensors["h.0.attn.c_proj.bias"] = raw_tensor<float>("F32", {2}, {0.5f, -0.5f});
  // The values are (1, 10) at every position, so that is what comes to the projection.
  zeros.tensors["h.0.attn.c_attn.bias"] = raw_tensor<float>("F32", {6}, {0, 0, 0, 0, 1, 10});
  const Transformer model = zeros.model();
  check_close(parameter_value(model, "blocks.0.attention.output.weight"), {2, 2}, {1, 3, 2, 4}, 0);
  Onlooker onlooker;
  model(Pass().watched_by({onlooker}), Tokens(1, 1));
  check_close(onlooker.seen_at(attention_output(0)), {1, 1, 2}, {31.5, 41.5}, 1e-6);
}

TEST_CASE("a GPT-2's columns are all queries, then all keys, then all values") {
  Zeros zeros(4, 2);
  zeros.tensors["h.0.attn.c_attn.bias"] =
      raw_tensor<float>("F32", {12}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  Onlooker onlooker;
  zeros.model()(Pass().watched_by({onlooker}), Tokens(1, 1));
  // Head 1 owns the last two of each.
  check_close(onlooker.seen_at(queries(0)), {1, 1, 4}, {0, 1, 2, 3}, 0);
  check_close(onlooker.seen_at(keys(0)), {1, 1, 4}, {4, 5, 6, 7}, 0);
  check_close(onlooker.seen_at(values(0)), {1, 1, 4}, {8, 9, 10, 11}, 0);
}

TEST_CASE("a file is imported with the config.json beside it, under any name") {
  Damaged damaged;
  damaged.write();
  fs::rename(damaged.folder / "model.safetensors", damaged.folder / "other.safetensors");
  const ImportedModel imported = import_gpt2(damaged.folder / "other.safetensors");
  CHECK(imported.folder == damaged.folder.path());
  CHECK(same_bits(parameter_value(imported.model, "embedding.weight"),
                  parameter_value(import_gpt2(golden("gpt2-tied")).model, "embedding.weight")));
}

TEST_CASE("names with and without a prefix, and numbers of 64 bits, are the same model") {
  const Transformer original = import_gpt2(golden("gpt2-tied")).model;
  Damaged damaged;
  RawTensors bare;
  for (auto& [name, tensor] : damaged.tensors) {
    if (tensor.dtype == "F32") {
      std::vector<float> numbers(tensor.bytes.size() / sizeof(float));
      std::memcpy(numbers.data(), tensor.bytes.data(), tensor.bytes.size());
      tensor = raw_tensor<double>("F64", tensor.shape, {numbers.begin(), numbers.end()});
    }
    bare[name.substr(std::string("transformer.").size())] = tensor;
  }
  for (const RawTensors& tensors : {damaged.tensors, bare}) {
    Damaged other;
    other.tensors = tensors;
    other.write();
    const Transformer model = import_gpt2(other.folder.path()).model;
    for (const Parameters::Entry& entry : original.parameters().entries())
      CHECK(same_bits(parameter_value(model, entry.name), parameter_value(original, entry.name)));
  }
}

TEST_CASE("a tied head may stand in the file if it is the embedding, and is refused if it is not") {
  Damaged damaged;
  damaged.tensors["lm_head.weight"] = damaged.tensors.at(in("wte.weight"));
  CHECK(damaged.complaint() == "accepted");
  RawTensor& head = damaged.tensors.at("lm_head.weight");
  head.bytes.replace(4, 4, float_bytes({0.125f}));
  CHECK(damaged.complaint() ==
        kFaults +
            "\n  tied: lm_head.weight differs from transformer.wte.weight, and tie_word_embeddings is true");
  // Untied, the same file is right, and the head is its own.
  damaged.say("\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  CHECK(damaged.complaint() == "accepted");
  const Transformer model = import_gpt2(damaged.folder.path()).model;
  CHECK(parameter_value(model, "unembedding.weight")(0, 1) == Real{0.125});
  damaged.tensors.erase("lm_head.weight");
  CHECK(damaged.complaint() == kFaults + "\n  missing: lm_head.weight (11, 8)");
}

TEST_CASE("each fault of a tensor is named") {
  const auto with = [](const auto& change) {
    Damaged damaged;
    change(damaged.tensors);
    return damaged.complaint();
  };
  CHECK(with([](RawTensors& tensors) { tensors.erase(in("h.1.mlp.c_fc.weight")); }) ==
        kFaults + "\n  missing: transformer.h.1.mlp.c_fc.weight (8, 32)");
  CHECK(with([](RawTensors& tensors) { tensors[in("h.2.ln_1.weight")] = tensors.at(in("ln_f.weight")); }) ==
        kFaults + "\n  unexpected: \"transformer.h.2.ln_1.weight\"");
  CHECK(with([](RawTensors& tensors) { tensors["ln_f.weight"] = tensors.at(in("ln_f.weight")); }) ==
        kFaults + "\n  unexpected: \"ln_f.weight\"");
  CHECK(with([](RawTensors& tensors) {
          tensors.at(in("h.0.attn.c_attn.weight")).shape = {24, 8};
        }) == kFaults + "\n  shape: transformer.h.0.attn.c_attn.weight should be (8, 24), is (24, 8)");
  CHECK(with([](RawTensors& tensors) { tensors.at(in("ln_f.bias")).shape = {1, 1, 1, 1, 1, 1, 1, 8}; }) ==
        kFaults + "\n  shape: transformer.ln_f.bias should be (8), is (1, 1, 1, 1, 1, 1, 1, 8)");
  for (const char* dtype : {"I32", "U32"})
    CHECK(with([&](RawTensors& tensors) { tensors.at(in("ln_f.bias")).dtype = dtype; }) ==
          kFaults + "\n  dtype: transformer.ln_f.bias should be F32, F64, F16 or BF16, is " + dtype);
  for (const float number : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity()})
    CHECK(with([&](RawTensors& tensors) {
            tensors.at(in("h.1.ln_2.bias")).bytes.replace(28, 4, float_bytes({number}));
          }) == kFaults + "\n  not finite: transformer.h.1.ln_2.bias");
}

TEST_CASE("a number that is too large for a float is not finite") {
  if (sizeof(Real) == 8) return;
  Damaged damaged;
  damaged.tensors.at(in("ln_f.bias")) = raw_tensor<double>("F64", {8}, {0, 0, 0, 1e39, 0, 0, 0, 0});
  CHECK(damaged.complaint() == kFaults + "\n  not finite: transformer.ln_f.bias");
}

TEST_CASE("all faults of a file that its header tells of are listed at once, and then no numbers are read") {
  Damaged damaged("gpt2-untied-f16");
  damaged.tensors.erase("h.0.ln_1.weight");
  damaged.tensors.erase("h.1.mlp.c_proj.bias");
  damaged.tensors.at("wpe.weight").shape = {16, 4};
  damaged.tensors.at("ln_f.weight").dtype = "I16";
  damaged.tensors.at("h.0.mlp.c_fc.bias").bytes.replace(0, 2, "\x00\x7e", 2);  // a NaN of 16 bits
  damaged.tensors["h.0.attn.rotary"] = damaged.tensors.at("h.0.ln_1.bias");
  damaged.tensors["h.2.attn.bias"] = damaged.tensors.at("h.0.ln_1.bias");
  CHECK(damaged.complaint() == kFaults +
                                   "\n  shape: wpe.weight should be (8, 8), is (16, 4)"
                                   "\n  missing: h.0.ln_1.weight (8)"
                                   "\n  missing: h.1.mlp.c_proj.bias (8)"
                                   "\n  dtype: ln_f.weight should be F32, F64, F16 or BF16, is I16"
                                   "\n  unexpected: \"h.0.attn.rotary\""
                                   "\n  unexpected: \"h.2.attn.bias\"");
}

TEST_CASE("a file with none of the names lists them all") {
  Damaged damaged;
  damaged.tensors = {{"model.embed_tokens.weight", raw_tensor<float>("F32", {1}, {1})},
                     {"model.norm.weight", raw_tensor<float>("F32", {1}, {1})}};
  const std::string complaint = damaged.complaint();
  CHECK(complaint.starts_with(kFaults + "\n  missing: wte.weight (11, 8)\n  missing: wpe.weight (8, 8)\n"));
  CHECK(complaint.ends_with(
      "\n  unexpected: \"model.embed_tokens.weight\"\n  unexpected: \"model.norm.weight\""));
  CHECK(std::ranges::count(complaint, '\n') == 28 + 2);
}

TEST_CASE("sizes that the file cannot hold are refused before anything is made of them") {
  Damaged damaged;
  damaged.say("\"n_layer\": 2", "\"n_layer\": 1000000000");
  CHECK(damaged.complaint() ==
        "[gpt2] config.json: n_layer: model.safetensors has 32 tensors, and each layer takes 12: got "
        "1000000000");
  Damaged one_more;
  one_more.say("\"n_layer\": 2", "\"n_layer\": 3");
  CHECK(one_more.complaint().starts_with(kFaults + "\n  missing: transformer.h.2.ln_1.weight (8)\n"));
  for (const char* key : {"n_embd", "vocab_size", "n_positions"}) {
    CAPTURE(key);
    Damaged other;
    const std::size_t at = other.config.find(key);
    other.config.replace(at, other.config.find(',', at) - at, std::string(key) + "\": 1000000000");
    CHECK(other.complaint().starts_with(kFaults + "\n  shape: transformer."));
  }
  Damaged inner;
  inner.say("\"n_inner\": null", "\"n_inner\": 1000000000");
  CHECK(inner.complaint().starts_with(
      kFaults + "\n  shape: transformer.h.0.mlp.c_fc.weight should be (8, 1000000000), is (8, 32)\n"));
  damaged.say("1000000000", "1000000001");
  CHECK(damaged.complaint() ==
        "[gpt2] config.json: n_layer: expected a whole number from 0 to 1000000000, got 1000000001");
}

TEST_CASE("files that are not there or damaged are refused by name") {
  const auto complaint = [](const fs::path& path) { return complaint_of([&] { import_gpt2(path); }); };
  Damaged damaged;
  const std::string folder = damaged.folder.path().string();
  CHECK(complaint(damaged.folder / "nowhere") == "[gpt2] " + folder + "/nowhere: no such file or folder");
  CHECK(complaint(damaged.folder.path()) ==
        "[gpt2] " + folder +
            "/config.json is not there; expected config.json and model.safetensors in one folder");
  put(damaged.folder / "config.json", damaged.config);
  CHECK(complaint(damaged.folder.path()) ==
        "[gpt2] " + folder +
            "/model.safetensors is not there; expected config.json and model.safetensors in one folder");

  damaged.write();
  put(damaged.folder / "config.json", "{");
  CHECK_THROWS_WITH_AS(import_gpt2(damaged.folder.path()),
                       ("[gpt2] " + folder + "/config.json: not valid JSON, at its byte 2").c_str(), Error);
  damaged.write();
  const std::string archive = text_of(damaged.folder / "model.safetensors");
  put(damaged.folder / "model.safetensors", archive.substr(0, archive.size() - 1));
  CHECK_THROWS_AS(import_gpt2(damaged.folder.path()), Error);
}

TEST_CASE("a model without norms or feed-forward is not exported, and each setting is named") {
  const Folder folder;
  const auto complaint = [&](const ModelConfig& config) {
    return complaint_of([&] { export_gpt2(random_model(config), folder / "out"); });
  };
  const std::string start = "[gpt2] this model cannot be said in the GPT-2 layout:";
  const std::string norm = "\n  model.norm = none: that layout has layer norms";
  const std::string feed_forward = "\n  model.feed_forward = 0: every block has a feed-forward part";
  const std::string end = "\nexport it as transformer-lens or npz";
  CHECK(complaint(attention_only()) == start + norm + feed_forward + end);
  ModelConfig config = small_gpt2();
  config.norm = NormKind::none;
  CHECK(complaint(config) == start + norm + end);
  config = small_gpt2();
  config.feed_forward = 0;
  CHECK(complaint(config) == start + feed_forward + end);
  CHECK_FALSE(fs::exists(folder / "out"));
}

TEST_CASE("a really trained model computes here what it computed in PyTorch") {
  const auto folder = reference_data("llm-viz");
  if (!folder) return;
  const Transformer model = import_gpt2(*folder / "nano-sort-hf.safetensors").model;
  const SafetensorsFile reference(*folder / "nano-sort-reference.safetensors");

  const Tokens ids(3, 11, read_ids(*folder / "nano-sort-reference.safetensors", "idx"));

  Onlooker onlooker;
  const Tensor logits = model(Pass().watched_by({onlooker}), ids).value();
  check_within(logits, reference.read("lm_head"), 1e-5);
  check_within(onlooker.seen_at(pattern(0)), reference.read("attSm"), 1e-5);
  check_within(onlooker.seen_at(final_residual()), reference.read("ln_f"), 1e-5);
  for (Index layer = 0; layer < 3; ++layer)
    check_within(onlooker.seen_at(residual_after(layer)), reference.read(fmt::format("block{}", layer)),
                 1e-5);
}

TEST_CASE("a really trained model sorts every one of its inputs") {
  const auto folder = reference_data("llm-viz");
  if (!folder) return;
  const Transformer model = import_gpt2(*folder / "nano-sort-hf.safetensors").model;
  constexpr Index letters = 6, inputs = 729;
  std::vector<std::vector<std::int32_t>> rows;
  for (std::int32_t input = 0; input < inputs; ++input) {
    std::vector<std::int32_t> row;
    for (std::int32_t rest = input; row.size() < letters; rest /= 3) row.push_back(rest % 3);
    rows.push_back(row);
  }
  for (Index step = 0; step < letters; ++step) {
    Tokens ids(inputs, letters + step);
    for (Index b = 0; b < inputs; ++b)
      for (Index t = 0; t < ids.length(); ++t)
        ids(b, t) = rows[static_cast<std::size_t>(b)][static_cast<std::size_t>(t)];
    const Tensor logits = model(Pass(), ids).value();
    for (Index b = 0; b < inputs; ++b) {
      const Real* last = logits.data() + (b * ids.length() + ids.length() - 1) * 3;
      rows[static_cast<std::size_t>(b)].push_back(
          static_cast<std::int32_t>(std::max_element(last, last + 3) - last));
    }
  }
  int sorted = 0;
  for (const std::vector<std::int32_t>& row : rows) {
    std::vector<std::int32_t> question(row.begin(), row.begin() + letters);
    std::sort(question.begin(), question.end());
    sorted += question == std::vector<std::int32_t>(row.begin() + letters, row.end()) ? 1 : 0;
  }
  CHECK(sorted == 729);
}
