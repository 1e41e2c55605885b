/// Files of other programs: archives put together by hand, and what PyTorch and NumPy make of ours.
#pragma once

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/folder.h"
#include "support/functions.h"
#include "support/modules.h"
#include "support/testing.h"
#include "tapehead/nn/transformer.h"
#include "tapehead/tensor/safetensors.h"

namespace tapehead::testing {

/// How close to PyTorch: float rounds after seven digits, double after fifteen.
inline constexpr double kSameModel = sizeof(Real) == 8 ? 1e-9 : 1e-5;

/// Checks the shape, and that no element is further off than `tolerance`, however large it is.
inline void check_within(const Tensor& actual, const Tensor& expected, double tolerance) {
  REQUIRE(to_string(actual.shape()) == to_string(expected.shape()));
  double worst = 0;
  for (Index i = 0; i < actual.count(); ++i) {
    const double off =
        std::abs(static_cast<double>(actual.data()[i]) - static_cast<double>(expected.data()[i]));
    worst = std::isnan(off) ? off : std::max(worst, off);
    if (std::isnan(off)) break;
  }
  CHECK(worst <= tolerance);
}

/// The folder of one golden model in GPT-2's layout.
inline std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(TAPEHEAD_SOURCE_DIR) / "tests" / "golden" / name;
}

inline Tokens ids_of(const Tensor& table) {
  Tokens ids(table.shape()[0], table.shape()[1]);
  for (Index b = 0; b < ids.batch(); ++b)
    for (Index t = 0; t < ids.length(); ++t) ids(b, t) = static_cast<std::int32_t>(table(b, t));
  return ids;
}

/// Checks the logits, and the pattern of every layer, against an archive with `logits` (B, T, V) and
/// `patterns` (L, B, H, T, T).
inline void check_same_model(const Transformer& model, const Tokens& ids, const SafetensorsFile& reference,
                             double tolerance) {
  Onlooker onlooker;
  check_within(model(Pass().watched_by({onlooker}), ids).value(), reference.read("logits"), tolerance);
  const Tensor patterns = reference.read("patterns");
  REQUIRE(patterns.shape()[0] == model.config().layers);
  const Shape one = patterns.shape().without(0);
  for (Index layer = 0; layer < model.config().layers; ++layer) {
    CAPTURE(layer);
    const std::span<const Real> values = patterns.values().subspan(
        static_cast<std::size_t>(layer * one.count()), static_cast<std::size_t>(one.count()));
    check_within(onlooker.seen_at(pattern(layer)), Tensor(one, values), tolerance);
  }
}

/// A tensor of an archive as its bytes are.
struct RawTensor {
  std::string dtype;
  std::vector<Index> shape;
  std::string bytes;
};
using RawTensors = std::map<std::string, RawTensor>;

inline std::string header_length(std::uint64_t length) {
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes;
}

inline RawTensors read_raw(const std::filesystem::path& file) {
  const std::string bytes = text_of(file);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  RawTensors tensors;
  const SafetensorsFile archive(file);
  for (const SafetensorsEntry& entry : archive.entries())
    tensors[entry.name] = {entry.dtype, entry.shape,
                           bytes.substr(sizeof(length) + length + static_cast<std::size_t>(entry.begin),
                                        static_cast<std::size_t>(entry.end - entry.begin))};
  return tensors;
}

/// The token ids that another program left as I64.
inline std::vector<std::int32_t> read_ids(const std::filesystem::path& file, const std::string& name) {
  const std::string bytes = read_raw(file).at(name).bytes;
  std::vector<std::int64_t> wide(bytes.size() / sizeof(std::int64_t));
  std::memcpy(wide.data(), bytes.data(), bytes.size());
  return {wide.begin(), wide.end()};
}

inline void write_raw(const std::filesystem::path& file, const RawTensors& tensors) {
  SafetensorsHeader header;
  std::string payload;
  for (const auto& [name, tensor] : tensors) {
    const auto begin = static_cast<Index>(payload.size());
    payload += tensor.bytes;
    header.entries.push_back({name, tensor.dtype, tensor.shape, begin, static_cast<Index>(payload.size())});
  }
  const std::string text = format_safetensors_header(header, file.string());
  put(file, header_length(text.size()) + text + payload);
}

/// Numbers as the bytes of an archive: raw_tensor<float>("F32", {2}, {1, 2}).
template <class Number>
RawTensor raw_tensor(const std::string& dtype, std::vector<Index> shape, const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return {dtype, std::move(shape), std::move(bytes)};
}

/// Runs a script that lies beside this file with Debian's Python. False, after a line that says why, where
/// Python or what the script needs is not installed.
inline bool run_script(const std::string& script, const std::vector<std::string>& arguments) {
  std::string command = fmt::format("/usr/bin/python3 '{}/tests/exchange/{}'", TAPEHEAD_SOURCE_DIR, script);
  for (const std::string& argument : arguments) command += fmt::format(" '{}'", argument);
  const int result = std::system(command.c_str());
  REQUIRE(WIFEXITED(result));
  const int status = WEXITSTATUS(result);
  if (status == 127 || status == 126)
    std::puts("SKIPPED: Debian's python3 is not installed (apt-get install python3)");
  if (status == 77)
    std::puts("SKIPPED: a package of Python's is missing (apt-get install python3-torch python3-numpy)");
  if (status == 127 || status == 126 || status == 77) return false;
  REQUIRE(status == 0);
  return true;
}

/// A model, and the folder into which it was exported.
struct Exported {
  Transformer model;
  std::filesystem::path folder;
};

/// Has PyTorch compute every exported model's logits and patterns on random tokens, and checks them against
/// the model's own.
inline void check_in_pytorch(const std::vector<Exported>& all) {
  std::vector<std::string> folders;
  std::vector<Tokens> tokens;
  for (const Exported& exported : all) {
    const ModelConfig& config = exported.model.config();
    tokens.push_back(random_tokens(2, config.context, config.vocabulary, 17));
    const Tokens first = tokens.back().rows(0, 1), second = tokens.back().rows(1, 1);
    put(exported.folder / "tokens.json",
        fmt::format("[[{}], [{}]]", fmt::join(first.values(), ", "), fmt::join(second.values(), ", ")));
    folders.push_back(exported.folder.string());
  }
  if (!run_script("gpt2_logits.py", folders)) return;
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(folders[i]);
    check_same_model(all[i].model, tokens[i], SafetensorsFile(all[i].folder / "logits.safetensors"),
                     kSameModel);
  }
}

/// A small model that a GPT-2 can be.
inline ModelConfig small_gpt2() {
  return {.vocabulary = 7,
          .context = 10,
          .width = 8,
          .heads = 2,
          .layers = 2,
          .feed_forward = 12,
          .norm = NormKind::layer,
          .qkv_bias = true,
          .bias = true,
          .tied = true,
          .dropout = 0.25,
          .initialisation = Initialisation::gpt2};
}

/// The same with every option that has another value in turn, and in all combinations of biases, head and
/// GELU.
inline std::vector<ModelConfig> variants(const ModelConfig& base) {
  std::vector<ModelConfig> all;
  for (int bits = 0; bits < 16; ++bits) {
    ModelConfig config = base;
    config.qkv_bias = (bits & 1) != 0;
    config.bias = (bits & 2) != 0;
    config.tied = (bits & 4) != 0;
    config.gelu = (bits & 8) != 0 ? GeluForm::tanh : GeluForm::erf;
    all.push_back(config);
  }
  for (const Positions positions : {Positions::sinusoidal, Positions::none}) {
    all.push_back(base);
    all.back().positions = positions;
  }
  all.push_back(base);
  all.back().heads = 4;
  all.push_back(base);
  all.back().layers = 0;
  return all;
}

}  // namespace tapehead::testing
