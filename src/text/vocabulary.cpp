#include "tapehead/text/vocabulary.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

using Json = nlohmann::json;

struct Entry {
  std::string token;
  std::int32_t id;
};

/// Takes the parser's events and throws at the first that has no place in a flat object of numbers, so
/// nothing nests and nothing is held but the entries.
class EntryReader final : public nlohmann::json_sax<Json> {
 public:
  explicit EntryReader(const std::string& path) : path_(path) {}
  std::vector<Entry> take() { return std::move(entries_); }

  bool null() override { return out_of_place("null"); }
  bool boolean(bool value) override { return out_of_place(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) override { return out_of_place(std::to_string(value)); }
  bool number_float(double, const std::string& text) override {
    constexpr std::size_t shown = 40;
    return out_of_place(text.size() > shown ? text.substr(0, shown) + "..." : text);
  }
  bool string(std::string& text) override { return out_of_place(quoted_name(text)); }
  bool binary(Json::binary_t&) override { return out_of_place("binary data"); }
  bool start_array(std::size_t) override { return out_of_place("an array"); }
  bool end_array() override { return true; }
  bool end_object() override { return true; }

  bool start_object(std::size_t) override {
    if (inside_) return out_of_place("an object");
    return inside_ = true;
  }

  bool key(std::string& text) override {
    require(!text.empty(), "[tokenizer] {}: a token is empty", path_);
    token_ = text;
    return true;
  }

  bool number_unsigned(std::uint64_t value) override {
    if (!inside_ || value > std::numeric_limits<std::int32_t>::max())
      return out_of_place(std::to_string(value));
    entries_.push_back({std::move(token_), static_cast<std::int32_t>(value)});
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    throw Error(fmt::format("[tokenizer] {}: not valid JSON, at its byte {}", path_, position));
  }

 private:
  bool out_of_place(const std::string& what) const {
    require(inside_, "[tokenizer] {}: expected a JSON object of tokens and their ids, got {}", path_, what);
    throw Error(
        fmt::format("[tokenizer] {}: token {}: expected an id, a whole number from 0 to 2^31 - 1, got {}",
                    path_, quoted_name(token_), what));
  }

  const std::string& path_;
  bool inside_ = false;
  std::string token_;
  std::vector<Entry> entries_;
};

std::vector<Entry> read_entries(const NamedText& file) {
  // The parser would take a zero byte for the end of the text and never see what follows.
  const std::size_t zero = file.text.find('\0');
  require(zero == std::string::npos, "[tokenizer] {}: not valid JSON, at its byte {}", file.name, zero);
  EntryReader reader(file.name);
  Json::sax_parse(file.text.begin(), file.text.end(), &reader);
  return reader.take();
}

std::vector<std::string> place_by_id(std::vector<Entry> entries, const std::string& path) {
  std::vector<std::string> tokens(entries.size());
  const Entry* beyond = nullptr;
  for (Entry& entry : entries) {
    const auto id = static_cast<std::size_t>(entry.id);
    if (id >= tokens.size()) {
      beyond = &entry;
      continue;
    }
    if (!tokens[id].empty())
      throw Error(fmt::format("[tokenizer] {}: tokens {} and {} both have id {}", path,
                              quoted_name(tokens[id]), quoted_name(entry.token), id));
    tokens[id] = std::move(entry.token);
  }
  if (beyond == nullptr) return tokens;
  const auto missing = std::find(tokens.begin(), tokens.end(), "") - tokens.begin();
  throw Error(
      fmt::format("[tokenizer] {}: id {} is missing: the {} tokens must have the ids 0 to {}, and {} has {}",
                  path, missing, tokens.size(), tokens.size() - 1, quoted_name(beyond->token), beyond->id));
}

}  // namespace

Vocabulary::Vocabulary(const NamedText& file)
    : tokens_(place_by_id(read_entries(file), file.name)), by_text_(tokens_.size()) {
  std::iota(by_text_.begin(), by_text_.end(), 0);
  std::sort(by_text_.begin(), by_text_.end(),
            [&](std::int32_t a, std::int32_t b) { return (*this)[a] < (*this)[b]; });
  const auto twin = std::adjacent_find(by_text_.begin(), by_text_.end(), [&](std::int32_t a, std::int32_t b) {
    return (*this)[a] == (*this)[b];
  });
  if (twin != by_text_.end())
    throw Error(fmt::format("[tokenizer] {}: token {} is there twice, with ids {} and {}", file.name,
                            quoted_name((*this)[*twin]), std::min(twin[0], twin[1]),
                            std::max(twin[0], twin[1])));
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
  const auto found =
      std::lower_bound(by_text_.begin(), by_text_.end(), token,
                       [&](std::int32_t id, std::string_view text) { return (*this)[id] < text; });
  if (found == by_text_.end() || (*this)[*found] != token) return std::nullopt;
  return *found;
}

std::string format_vocabulary(std::span<const std::string> tokens) {
  std::string text;
  for (std::size_t id = 0; id < tokens.size(); ++id)
    text += fmt::format("{}{}: {}", id == 0 ? "{" : ",\n ", Json(tokens[id]).dump(), id);
  return (tokens.empty() ? "{" : text) + "}\n";
}

}  // namespace tapehead
