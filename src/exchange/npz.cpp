#include "tapehead/exchange/npz.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <bit>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <variant>

#include "tapehead/base/file.h"
#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"
#include "tapehead/exchange/model_folder.h"
#include "tapehead/train/config_fields.h"

namespace tapehead {

namespace {

static_assert(std::endian::native == std::endian::little, "the arrays are said to be little-endian");

constexpr std::string_view kTag = "npz";

/// The start of a .npy file of version 1.0: what the numbers are, padded so that they begin at a multiple
/// of 64.
std::string npy_header(const Shape& shape) {
  const auto sizes = shape.sizes();
  const std::string tuple = fmt::format("({}{})", fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
  std::string text =
      fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': {}, }}", sizeof(Real), tuple);
  constexpr std::size_t fixed = 10;  // magic, version and the text's length
  constexpr std::size_t unit = 64;
  text.append((unit - (fixed + text.size() + 1) % unit) % unit, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

/// A zip file in the making, whose bytes go to a ReplacementFile.
class ZipWriter {
 public:
  explicit ZipWriter(const std::filesystem::path& path) : path_(path.string()), file_(path, kTag) {
    check(archive_write_set_format_zip(zip_.get()));
    check(archive_write_set_options(zip_.get(), "zip:compression=store"));
    check(archive_write_set_bytes_per_block(zip_.get(), 0));
    check(archive_write_open(zip_.get(), this, nullptr, write_to_file, nullptr));
  }

  /// An entry of two parts.
  void add(const std::string& name, std::string_view head, std::string_view body) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(head.size() + body.size()));
    check(archive_write_header(zip_.get(), entry.get()));
    for (const std::string_view part : {head, body}) {
      const la_ssize_t written = archive_write_data(zip_.get(), part.data(), part.size());
      check(written == static_cast<la_ssize_t>(part.size()) ? ARCHIVE_OK : ARCHIVE_FATAL);
    }
  }

  void finish() {
    check(archive_write_close(zip_.get()));
    file_.put_in_place();
  }

 private:
  /// No exception may pass through the library: it is kept, and thrown behind it.
  static la_ssize_t write_to_file(archive*, void* self, const void* data, std::size_t bytes) {
    ZipWriter& writer = *static_cast<ZipWriter*>(self);
    try {
      writer.file_.write(data, bytes);
      return static_cast<la_ssize_t>(bytes);
    } catch (...) {
      writer.refusal_ = std::current_exception();
      return -1;
    }
  }

  void check(int status) {
    if (refusal_) std::rethrow_exception(refusal_);
    if (status == ARCHIVE_OK) return;
    const char* reason = archive_error_string(zip_.get());
    throw Error(
        fmt::format("[{}] cannot write {}: {}", kTag, path_, reason != nullptr ? reason : "unknown reason"));
  }

  struct Free {
    void operator()(archive* zip) const { archive_write_free(zip); }
  };

  std::string path_;
  std::exception_ptr refusal_;
  ReplacementFile file_;
  // Last, since freeing it may still write.
  std::unique_ptr<archive, Free> zip_{archive_write_new()};
};

/// The [model] table as JSON.
std::string model_table(const ModelConfig& model) {
  const Config config{.model = model, .task = {}, .train = {}};
  nlohmann::ordered_json json;
  for (const ConfigField& field : config_fields())
    if (field.table == "model")
      std::visit([&](const auto& value) { json[std::string(field.key)] = value; }, field.get(config));
  return json.dump(2) + "\n";
}

}  // namespace

void write_npz(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors) {
  std::set<std::string_view> names;
  for (const NamedTensor& tensor : tensors)
    require(names.insert(tensor.name).second, "[{}] {}: two tensors are named {}", kTag, path.string(),
            quoted_name(tensor.name));
  ZipWriter zip(path);
  for (const NamedTensor& tensor : tensors)
    zip.add(tensor.name + ".npy", npy_header(tensor.shape),
            {reinterpret_cast<const char*>(tensor.data),
             static_cast<std::size_t>(tensor.shape.count()) * sizeof(Real)});
  zip.finish();
}

void export_npz(const Transformer& model, const std::filesystem::path& folder) {
  TensorList list;
  for (const Parameters::Entry& entry : model.parameters().entries())
    list.add(entry.name, model.parameters().find(entry.name));
  make_folder(folder);
  write_npz(folder / "model.npz", list.tensors());
  replace_file(folder / kConfigJson, model_table(model.config()), kTag);
}

}  // namespace tapehead
