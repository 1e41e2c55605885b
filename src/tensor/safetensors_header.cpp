#include "tapehead/tensor/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";
constexpr Index kLargest = std::numeric_limits<Index>::max();

struct Dtype {
  std::string_view name;
  Index bits;
};
constexpr std::array kDtypes = std::to_array<Dtype>({
    {"BOOL", 8},        {"F4", 4},          {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},
    {"F8_E5M2", 8},     {"F8_E4M3", 8},     {"F8_E8M0", 8}, {"I16", 16},    {"U16", 16}, {"F16", 16},
    {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"BF16", 16},   {"I32", 32},    {"U32", 32}, {"F32", 32},
    {"C64", 64},        {"F64", 64},        {"I64", 64},    {"U64", 64},
});

const Dtype* find_dtype(std::string_view name) {
  const auto found =
      std::find_if(kDtypes.begin(), kDtypes.end(), [&](const Dtype& d) { return d.name == name; });
  return found == kDtypes.end() ? nullptr : &*found;
}

constexpr std::size_t kShown = 120;  // characters of a text, in a message

/// The sizes as they may stand in a message.
std::string shape_text(const std::vector<Index>& sizes) {
  constexpr std::size_t shown = 16;
  const auto end = sizes.begin() + static_cast<std::ptrdiff_t>(std::min(sizes.size(), shown));
  return fmt::format("({}{})", fmt::join(sizes.begin(), end, ", "), sizes.size() > shown ? ", ..." : "");
}

/// Takes the parser's events in the one order a header may have and throws at the first that is out of place,
/// so nothing nests deeper than three levels and nothing is held but the entries.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}
  SafetensorsHeader take() { return std::move(header_); }

  bool null() override { return out_of_place("null"); }
  bool boolean(bool value) override { return out_of_place(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) override { return out_of_place(std::to_string(value)); }
  bool number_float(double, const std::string& text) override {
    return out_of_place(text.substr(0, kShown) + (text.size() > kShown ? "..." : ""));
  }
  bool binary(Json::binary_t&) override { return out_of_place("binary data"); }

  bool number_unsigned(std::uint64_t value) override {
    if (place_ != Place::shape && place_ != Place::offsets) return out_of_place(std::to_string(value));
    if (value > static_cast<std::uint64_t>(kLargest)) return out_of_place(std::to_string(value));
    (place_ == Place::shape ? entry().shape : offsets_).push_back(static_cast<Index>(value));
    return true;
  }

  bool string(std::string& text) override {
    if (place_ == Place::metadata) {
      header_.metadata[key_] = text;
      return true;
    }
    if (place_ != Place::entry || key_ != "dtype") return out_of_place(quoted_name(text));
    if (find_dtype(text) == nullptr) refuse(fmt::format("unknown dtype {}", quoted_name(text)));
    entry().dtype = text;
    return true;
  }

  bool key(std::string& text) override {
    const bool again =
        (place_ == Place::metadata && header_.metadata.contains(text)) ||
        (place_ == Place::entry && std::find(keys_.begin(), keys_.end(), text) != keys_.end()) ||
        (place_ == Place::top && text == kMetadata && has_metadata_);
    if (again) refuse(fmt::format("duplicate key {}", quoted_name(text)));
    if (place_ == Place::entry) {
      if (text != "dtype" && text != "shape" && text != "data_offsets")
        refuse(fmt::format("unknown key {}", quoted_name(text)));
      keys_.push_back(text);
    }
    key_ = text;
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::start) {
      place_ = Place::top;
    } else if (place_ == Place::top && key_ == kMetadata) {
      has_metadata_ = true;
      place_ = Place::metadata;
    } else if (place_ == Place::top) {
      header_.entries.emplace_back().name = key_;
      keys_.clear();
      place_ = Place::entry;
    } else {
      out_of_place("an object");
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::entry)
      for (const char* key : {"dtype", "shape", "data_offsets"})
        if (std::find(keys_.begin(), keys_.end(), key) == keys_.end())
          refuse(fmt::format("{} is missing", key));
    place_ = place_ == Place::top ? Place::start : Place::top;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::entry || key_ == "dtype") return out_of_place("an array");
    place_ = key_ == "shape" ? Place::shape : Place::offsets;
    offsets_.clear();
    return true;
  }

  bool end_array() override {
    if (place_ == Place::offsets) {
      if (offsets_.size() != 2) refuse(fmt::format("expected 2 data_offsets, got {}", offsets_.size()));
      entry().begin = offsets_[0];
      entry().end = offsets_[1];
    }
    place_ = Place::entry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    throw Error(
        fmt::format("[safetensors] {}: the header is not valid JSON, at its byte {}", path_, position));
  }

 private:
  enum class Place { start, top, metadata, entry, shape, offsets };

  SafetensorsEntry& entry() { return header_.entries.back(); }

  [[noreturn]] void refuse(const std::string& fault) const {
    const bool in_tensor = place_ >= Place::entry;
    throw Error(fmt::format("[safetensors] {}: {}{}", path_,
                            in_tensor ? "tensor " + quoted_name(header_.entries.back().name) + ": " : "",
                            fault));
  }

  bool out_of_place(const std::string& what) const {
    switch (place_) {
      case Place::start:
        refuse("expected the header to be a JSON object, got " + what);
      case Place::top:
        refuse(fmt::format("expected an object for {}, got {}", quoted_name(key_), what));
      case Place::metadata:
        refuse(fmt::format("expected a string for metadata {}, got {}", quoted_name(key_), what));
      case Place::entry:
        refuse(
            fmt::format("expected {} for {}, got {}", key_ == "dtype" ? "a string" : "an array", key_, what));
      default:
        refuse(fmt::format("expected {} of whole numbers from 0 to 2^63 - 1, got {}", key_, what));
    }
  }

  const std::string& path_;
  SafetensorsHeader header_;
  Place place_ = Place::start;
  std::string key_;
  std::vector<std::string> keys_;  // of this tensor
  std::vector<Index> offsets_;
  bool has_metadata_ = false;
};

/// Checks that the range lies in the payload and is as long as shape and dtype say.
void check_range(const SafetensorsEntry& entry, Index payload_bytes, const std::string& path) {
  const std::string where = fmt::format("[safetensors] {}: tensor {}", path, quoted_name(entry.name));
  const std::string shape = shape_text(entry.shape);
  const Index bits = find_dtype(entry.dtype)->bits;
  Index elements = 1;
  for (const Index size : entry.shape) {
    require(size == 0 || elements <= kLargest / size, "{}: shape {} has more elements than can be counted",
            where, shape);
    elements *= size;
  }
  require(elements <= kLargest / bits, "{}: shape {} of {} has more bits than can be counted", where, shape,
          entry.dtype);
  require(elements * bits % 8 == 0, "{}: shape {} of {} does not end on a whole byte", where, shape,
          entry.dtype);
  require(entry.begin <= entry.end, "{}: data_offsets [{}, {}] are reversed", where, entry.begin, entry.end);
  require(entry.end - entry.begin == elements * bits / 8,
          "{}: shape {} of {} takes {} bytes, data_offsets [{}, {}] have {}", where, shape, entry.dtype,
          elements * bits / 8, entry.begin, entry.end, entry.end - entry.begin);
  require(entry.end <= payload_bytes,
          "{}: data_offsets [{}, {}] run past the end of the file's {} bytes of data", where, entry.begin,
          entry.end, payload_bytes);
}

void check_tiling(const std::vector<SafetensorsEntry>& entries, Index payload_bytes,
                  const std::string& path) {
  std::vector<const SafetensorsEntry*> in_order;
  for (const SafetensorsEntry& entry : entries) in_order.push_back(&entry);
  std::sort(in_order.begin(), in_order.end(), [](const auto* a, const auto* b) {
    return std::tie(a->begin, a->end) < std::tie(b->begin, b->end);
  });
  Index reached = 0;
  for (const SafetensorsEntry* entry : in_order) {
    require(entry->begin >= reached,
            "[safetensors] {}: tensor {}: data_offsets [{}, {}] overlap another tensor's", path,
            quoted_name(entry->name), entry->begin, entry->end);
    require(entry->begin == reached,
            "[safetensors] {}: tensor {}: bytes {} to {} before it belong to no tensor", path,
            quoted_name(entry->name), reached, entry->begin);
    reached = entry->end;
  }
  require(reached == payload_bytes, "[safetensors] {}: the last {} bytes belong to no tensor", path,
          payload_bytes - reached);
}

void sort_by_name(std::vector<SafetensorsEntry>& entries, const std::string& path) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  const auto twin = std::adjacent_find(entries.begin(), entries.end(),
                                       [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twin != entries.end())
    throw Error(fmt::format("[safetensors] {}: duplicate key: two tensors are named {}", path,
                            quoted_name(twin->name)));
}

std::string json_string(const std::string& text, const std::string& path) {
  try {
    return Json(text).dump();
  } catch (const Json::exception&) {
    throw Error(fmt::format("[safetensors] {}: {} is not UTF-8 text", path, quoted_name(text)));
  }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, Index payload_bytes,
                                           const std::string& path) {
  require(text.starts_with('{'), "[safetensors] {}: expected the header to start with '{{'", path);
  // The parser would take a zero byte for the end of the text and never see what follows.
  const std::size_t zero = text.find('\0');
  require(zero == text.npos, "[safetensors] {}: the header is not valid JSON, at its byte {}", path, zero);
  HeaderReader reader(path);
  Json::sax_parse(text.begin(), text.end(), &reader);
  SafetensorsHeader header = reader.take();
  sort_by_name(header.entries, path);
  for (const SafetensorsEntry& entry : header.entries) check_range(entry, payload_bytes, path);
  check_tiling(header.entries, payload_bytes, path);
  return header;
}

std::string format_safetensors_header(const SafetensorsHeader& header, const std::string& path) {
  std::string text;
  for (const auto& [key, value] : header.metadata)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", json_string(key, path), json_string(value, path));
  if (!text.empty()) text = fmt::format("\"{}\":{{{}}}", kMetadata, text);
  for (const SafetensorsEntry& entry : header.entries) {
    require(entry.name != kMetadata, "[safetensors] {}: the name {} is not a tensor's to have", path,
            kMetadata);
    text += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        text.empty() ? "" : ",", json_string(entry.name, path), entry.dtype,
                        fmt::join(entry.shape, ","), entry.begin, entry.end);
  }
  text = "{" + text + "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  require(text.size() <= static_cast<std::size_t>(kMaxSafetensorsHeader),
          "[safetensors] {}: expected a header of at most {} bytes, got {}", path, kMaxSafetensorsHeader,
          text.size());
  return text;
}

}  // namespace tapehead
