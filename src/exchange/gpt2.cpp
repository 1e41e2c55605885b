#include "tapehead/exchange/gpt2.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "tapehead/base/file.h"
#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"
#include "tapehead/exchange/gpt2_config.h"
#include "tapehead/exchange/gpt2_layout.h"
#include "tapehead/tensor/safetensors.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTag = "gpt2";
constexpr Index kTensorsALayer = 12;
/// So many layers are listed by name if they are missing.
constexpr Index kFewLayers = 100;

struct Files {
  fs::path config;
  fs::path model;
};

Files files_at(const fs::path& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status))
    throw UsageError(fmt::format("[{}] {}: no such file or folder", kTag, path.string()));
  const bool is_folder = fs::is_directory(status);
  const fs::path folder = is_folder ? path : path.parent_path();
  const Files files{folder / kConfigJson, is_folder ? folder / kModelSafetensors : path};
  for (const fs::path& file : {files.config, files.model})
    if (!fs::exists(file, code))
      throw UsageError(fmt::format("[{}] {} is not there; expected {} and {} in one folder", kTag,
                                   file.string(), kConfigJson, kModelSafetensors));
  return files;
}

bool is_readable(const std::string& dtype) {
  return dtype == "F32" || dtype == "F64" || dtype == "F16" || dtype == "BF16";
}

/// Copies what the file holds into a parameter's place.
void place(const Tensor& from, bool is_transposed, Real* to) {
  if (is_transposed)
    transpose(from.data(), from.shape()[0], from.shape()[1], to);
  else
    std::copy_n(from.data(), from.count(), to);
}

/// Looks through an archive for the tensors of a GPT-2, and writes down all that is wrong.
class Search {
 public:
  Search(const SafetensorsFile& archive, const ModelConfig& config)
      : archive_(archive), config_(config), tensors_(gpt2_tensors(config, MatrixOrder::inputs_first)) {
    has_prefix_ = std::ranges::any_of(
        archive.entries(), [](const SafetensorsEntry& entry) { return entry.name.starts_with(kGpt2Prefix); });
    for (const Gpt2Tensor& tensor : tensors_) look_for(tensor);
    look_for_strangers();
  }

  /// The model, or none if there are faults. Called once.
  std::optional<Transformer> load() {
    if (!faults_.empty()) return std::nullopt;
    std::optional<Transformer> model = Transformer::zeros(config_);
    for (const Gpt2Tensor* tensor : found_) {
      const std::string name = name_in_file(tensor->name);
      const Tensor numbers = archive_.read(name);
      if (!all_finite(numbers.values()))
        faults_ += fmt::format("\n  not finite: {}", name);
      else if (tensor->name == kGpt2Head && config_.tied)
        compare_with_embedding(numbers);
      else
        place(numbers, tensor->is_transposed,
              model->parameters().change().data() + model->parameters().find(tensor->parameter).offset);
    }
    if (!faults_.empty()) model.reset();
    return model;
  }

  const std::string& faults() const { return faults_; }

 private:
  std::string name_in_file(std::string_view name) const {
    if (!has_prefix_ && name.starts_with(kGpt2Prefix)) name.remove_prefix(kGpt2Prefix.size());
    return std::string(name);
  }

  const SafetensorsEntry* entry_of(const std::string& name) const {
    const auto found = std::ranges::lower_bound(archive_.entries(), name, {}, &SafetensorsEntry::name);
    return found != archive_.entries().end() && found->name == name ? &*found : nullptr;
  }

  void look_for(const Gpt2Tensor& tensor) {
    const std::string name = name_in_file(tensor.name);
    const SafetensorsEntry* entry = entry_of(name);
    known_.insert(name);
    if (entry == nullptr) {
      const bool is_needed = tensor.name != kGpt2Head || !config_.tied;
      if (is_needed) faults_ += fmt::format("\n  missing: {} ({})", name, fmt::join(tensor.shape, ", "));
    } else if (entry->shape != tensor.shape) {
      faults_ += fmt::format("\n  shape: {} should be ({}), is ({})", name, fmt::join(tensor.shape, ", "),
                             fmt::join(entry->shape, ", "));
    } else if (!is_readable(entry->dtype)) {
      faults_ += fmt::format("\n  dtype: {} should be F32, F64, F16 or BF16, is {}", name, entry->dtype);
    } else {
      found_.push_back(&tensor);
    }
  }

  void look_for_strangers() {
    for (Index layer = 0; layer < config_.layers; ++layer)
      for (const char* mask : {"bias", "masked_bias"})
        known_.insert(name_in_file(fmt::format("{}h.{}.attn.{}", kGpt2Prefix, layer, mask)));
    for (const SafetensorsEntry& entry : archive_.entries())
      if (!known_.contains(entry.name)) faults_ += fmt::format("\n  unexpected: {}", quoted_name(entry.name));
  }

  void compare_with_embedding(const Tensor& head) {
    const std::string name = name_in_file(kGpt2Embedding);
    const bool is_found =
        std::ranges::any_of(found_, [](const Gpt2Tensor* tensor) { return tensor->name == kGpt2Embedding; });
    if (is_found && !std::ranges::equal(head.values(), archive_.read(name).values()))
      faults_ +=
          fmt::format("\n  tied: {} differs from {}, and tie_word_embeddings is true", kGpt2Head, name);
  }

  const SafetensorsFile& archive_;
  const ModelConfig& config_;
  std::vector<Gpt2Tensor> tensors_;
  bool has_prefix_ = false;
  std::vector<const Gpt2Tensor*> found_;
  std::set<std::string> known_;
  std::string faults_;
};

}  // namespace

ImportedModel import_gpt2(const fs::path& path) {
  const Files files = files_at(path);
  Gpt2Config config = parse_gpt2_config(MappedFile(files.config, kTag).bytes(), files.config.string());
  const SafetensorsFile archive(files.model);
  // Layers by the billion are not looked for one by one.
  const Index tensors = static_cast<Index>(archive.entries().size());
  require(config.model.layers <= kFewLayers + tensors / kTensorsALayer,
          "[{}] {}: n_layer: {} has {} tensors, and each layer takes {}: got {}", kTag, files.config.string(),
          files.model.string(), tensors, kTensorsALayer, config.model.layers);
  Search search(archive, config.model);
  std::optional<Transformer> model = search.load();
  require(model.has_value(), "[{}] {} does not hold the model that {} describes:{}", kTag,
          files.model.string(), files.config.string(), search.faults());
  return {std::move(*model), std::move(config.notes), files.config.parent_path()};
}

void export_gpt2(const Transformer& model, const fs::path& folder) {
  require_gpt2_layout(model.config(), kTag);
  std::vector<Gpt2Tensor> tensors = gpt2_tensors(model.config(), MatrixOrder::inputs_first);
  if (model.config().tied) tensors.pop_back();  // the head, which is the embedding
  // Hugging Face opens only files that say so.
  write_model_folder(folder, in_gpt2_layout(model, tensors), {{"format", "pt"}},
                     format_gpt2_config(model.config()));
}

}  // namespace tapehead
