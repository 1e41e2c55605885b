/// A model as other programs keep it: a folder with `config.json` and `model.safetensors`.
///
/// Here such a folder is written; which names and sizes stand in it is decided by the layouts beside this
/// file.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tapehead/autograd/parameters.h"
#include "tapehead/nn/model_config.h"
#include "tapehead/tensor/safetensors.h"
#include "tapehead/tensor/tensor.h"

namespace tapehead {

inline constexpr const char* kConfigJson = "config.json";
inline constexpr const char* kModelSafetensors = "model.safetensors";

/// Tensors on their way into a file: parameters where they lie, and arrays made for the file, which it keeps.
class TensorList {
 public:
  TensorList() = default;
  TensorList(TensorList&&) = default;
  TensorList& operator=(TensorList&&) = default;
  // A copy would point at the arrays of the first.
  TensorList(const TensorList&) = delete;
  TensorList& operator=(const TensorList&) = delete;

  /// A parameter as it is; its model must outlive the list.
  void add(std::string name, const Parameter& parameter);
  void add(std::string name, Tensor tensor);

  const std::vector<NamedTensor>& tensors() const { return tensors_; }

 private:
  std::vector<NamedTensor> tensors_;
  std::vector<Tensor> made_;
};

/// Copies a matrix (rows, columns) to (columns, rows).
void transpose(const Real* from, Index rows, Index columns, Real* to);
Tensor transposed(const Parameter& matrix);

/// The parameter of that name, or one without an owner where the model has none.
Parameter find_or_none(const Parameters& parameters, std::string_view name);

/// What a model has that other programs' formats have no place for, a line a setting: "\n  model.norm = rms".
/// Empty for a model of GPT-2's kind.
std::string beyond_gpt2(const ModelConfig& config);

/// Makes the folder, and those above it, if it is not there. Throws Error where that cannot be.
void make_folder(const std::filesystem::path& folder);

/// Writes both files; the folder is made if it is not there, and files of these names are replaced.
/// config.json comes last: where it is, the other is whole. Throws Error, with the system's reason, for what
/// the disk refuses.
void write_model_folder(const std::filesystem::path& folder, const TensorList& tensors,
                        const std::map<std::string, std::string>& metadata, std::string_view config);

}  // namespace tapehead
