#include "tapehead/exchange/model_folder.h"

#include <algorithm>
#include <utility>

#include "tapehead/base/file.h"
#include "tapehead/base/require.h"

namespace tapehead {

void TensorList::add(std::string name, const Parameter& parameter) {
  tensors_.push_back({std::move(name), parameter.shape, parameter.data()});
}

void TensorList::add(std::string name, Tensor tensor) {
  // The numbers stay where they are when the tensor moves.
  made_.push_back(std::move(tensor));
  tensors_.push_back({std::move(name), made_.back().shape(), made_.back().data()});
}

void transpose(const Real* from, Index rows, Index columns, Real* to) {
  // In strips, so that the lines of memory that are written stay in the cache.
  constexpr Index strip = 16;
  for (Index first = 0; first < columns; first += strip)
    for (Index row = 0; row < rows; ++row)
      for (Index column = first; column < std::min(first + strip, columns); ++column)
        to[column * rows + row] = from[row * columns + column];
}

Tensor transposed(const Parameter& matrix) {
  Tensor result = Tensor::uninitialised({matrix.shape[1], matrix.shape[0]});
  transpose(matrix.data(), matrix.shape[0], matrix.shape[1], result.data());
  return result;
}

std::string beyond_gpt2(const ModelConfig& config) {
  std::string settings;
  const auto add = [&settings](bool is_there, const char* setting) {
    if (is_there) settings += fmt::format("\n  model.{}", setting);
  };
  add(config.norm == NormKind::rms, "norm = rms");
  add(config.positions == Positions::rotary, "positions = rotary");
  add(config.positions == Positions::alibi, "positions = alibi");
  add(config.feed_forward > 0 && config.activation == Activation::swiglu, "activation = swiglu");
  add(config.scores == ScoreForm::bilinear, "scores = bilinear");
  add(config.scores == ScoreForm::additive, "scores = additive");
  add(!config.scaled_scores, "scaled_scores = false");
  add(config.query_key_norm, "query_key_norm = true");
  add(config.smeared_keys, "smeared_keys = true");
  return settings;
}

Parameter find_or_none(const Parameters& parameters, std::string_view name) {
  for (const Parameters::Entry& entry : parameters.entries())
    if (entry.name == name) return {&parameters, entry.offset, entry.shape};
  return {};
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  require(!code, "[export] cannot make the folder {}: {}", folder.string(), code.message());
}

void write_model_folder(const std::filesystem::path& folder, const TensorList& tensors,
                        const std::map<std::string, std::string>& metadata, std::string_view config) {
  make_folder(folder);
  write_safetensors(folder / kModelSafetensors, tensors.tensors(), metadata);
  replace_file(folder / kConfigJson, config, "export");
}

}  // namespace tapehead
