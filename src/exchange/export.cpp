#include "tapehead/exchange/export.h"

#include "tapehead/base/require.h"
#include "tapehead/exchange/gpt2.h"
#include "tapehead/exchange/nanogpt.h"
#include "tapehead/exchange/npz.h"
#include "tapehead/exchange/transformer_lens.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

/// For a format that has nothing to tell.
template <void (*write)(const Transformer&, const fs::path&)>
std::string silently(const Transformer& model, const fs::path& folder) {
  write(model, folder);
  return {};
}

const ExportFormat& find_format(std::string_view name) {
  std::string known;
  for (const ExportFormat& format : export_formats()) {
    if (format.name == name) return format;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", format.name);
  }
  throw UsageError(fmt::format("[export] no format '{}'; there are {}", name, known));
}

}  // namespace

const std::vector<ExportFormat>& export_formats() {
  static const std::vector<ExportFormat> formats{
      {"gpt2", "Hugging Face's GPT2LMHeadModel", silently<export_gpt2>},
      {"nanogpt", "the GPT classes of nanoGPT and minGPT", export_nanogpt},
      {"transformer-lens", "TransformerLens' HookedTransformer", silently<export_transformer_lens>},
      {"npz", "NumPy arrays under the names of this program", silently<export_npz>},
  };
  return formats;
}

std::string export_model(const Transformer& model, std::string_view format, const fs::path& folder) {
  const ExportFormat& found = find_format(format);
  std::error_code code;
  const fs::file_status status = fs::status(folder, code);
  if (fs::exists(status) && !(fs::is_directory(status) && fs::is_empty(folder, code)))
    throw UsageError(fmt::format("[export] {} exists and is not an empty folder", folder.string()));
  return found.write(model, folder);
}

}  // namespace tapehead
