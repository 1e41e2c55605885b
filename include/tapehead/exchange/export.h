/// Every format that a model can be written in for other programs: what `tapehead export --format` offers.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/nn/transformer.h"

namespace tapehead {

/// One row of the table of formats.
struct ExportFormat {
  std::string_view name;
  std::string_view summary;
  /// Writes into the folder, which is made if it is not there; returns what the user should be told, or
  /// nothing.
  std::string (*write)(const Transformer& model, const std::filesystem::path& folder);
};

const std::vector<ExportFormat>& export_formats();

/// Writes the model in the format of that name into a folder that is not there yet, or is empty. Returns what
/// the user should be told, or nothing. Throws UsageError, and writes nothing, for an unknown format (listing
/// the known ones), for a folder with something in it, and for a model that cannot be said in the format;
/// Error for what the disk refuses.
std::string export_model(const Transformer& model, std::string_view format,
                         const std::filesystem::path& folder);

}  // namespace tapehead
