#include "tapehead/report/page_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tapehead/base/file.h"
#include "tapehead/base/require.h"
#include "tapehead/base/version.h"
#include "tapehead/report/packed.h"
#include "tapehead/report/page.h"
#include "tapehead/report/page_data.h"
#include "tapehead/study/table_difference.h"

namespace tapehead {

namespace {

using Json = nlohmann::ordered_json;

/// Parts that depend on where the page was made, not on the run.
constexpr std::array<std::string_view, 3> kOfThePlace{"/made_by", "/run/name", "/run/path"};
constexpr std::string_view kCommand = "command";

bool is_packed(const Json& json) {
  return json.is_object() && json.size() == 2 && json.contains("scale") && json["scale"].is_number() &&
         json.contains("data") && json["data"].is_string();
}

std::vector<double> unpacked(const Json& json) {
  return tapehead::unpacked({json["scale"].get<double>(), json["data"].get<std::string>()});
}

constexpr std::size_t kMostShown = 60;  // characters

/// In ASCII, so that it can be cut anywhere.
std::string text_of(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

std::string shown(const Json& json) {
  const std::string text = text_of(json);
  return text.size() <= kMostShown ? text
         : json.is_array()         ? fmt::format("a list of {}", json.size())
                                   : text.substr(0, kMostShown) + "...";
}

/// Of two texts, the parts in which they begin to differ.
std::pair<std::string, std::string> shown_apart(const std::string& a, const std::string& b) {
  const auto from = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  const std::size_t begin = from < kMostShown / 2 ? 0 : from - kMostShown / 2;
  const auto part = [&](const std::string& text) {
    return (begin > 0 ? "..." : "") + text.substr(begin, kMostShown) +
           (text.size() > begin + kMostShown ? "..." : "");
  };
  return {part(a), part(b)};
}

/// Compares two documents from the outside inwards.
class DocumentComparison {
 public:
  explicit DocumentComparison(double tolerance) : tolerance_(tolerance) {}

  void compare(const Json& stands, const Json& now, const std::string& place) {
    if (std::ranges::find(kOfThePlace, place) != kOfThePlace.end() || place.ends_with(kCommand)) return;
    if (is_packed(stands) && is_packed(now)) return compare_packed(stands, now, place);
    if (place.ends_with("/csv") && stands.is_string() && now.is_string())
      return compare_tables(stands.get<std::string>(), now.get<std::string>(), place);
    if (stands.is_object() && now.is_object()) return compare_members(stands, now, place);
    if (stands.is_array() && now.is_array() && stands.size() == now.size()) {
      for (std::size_t i = 0; i < now.size(); ++i)
        compare(stands[i], now[i], fmt::format("{}/{}", place, name_of(now[i], i)));
      return;
    }
    ++result_.cells;
    if (agree(stands, now)) return;
    if (!stands.is_string() || !now.is_string()) return differ(place, shown(stands), shown(now));
    auto [was, is] = shown_apart(text_of(stands), text_of(now));
    differ(place, std::move(was), std::move(is));
  }

  Comparison result() && { return std::move(result_); }

 private:
  /// What an entry of a list is called: by its name, if it has one.
  static std::string name_of(const Json& entry, std::size_t index) {
    const bool has_name = entry.is_object() && entry.contains("name") && entry["name"].is_string();
    return has_name ? entry["name"].get<std::string>() : std::to_string(index);
  }

  bool agree(double a, double b, double rounding = 0) const {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b || (tolerance_ > 0 &&
                      std::abs(a - b) <= rounding + tolerance_ * std::max({1.0, std::abs(a), std::abs(b)}));
  }
  bool agree(const Json& a, const Json& b) const {
    if (a.is_number() && b.is_number()) return agree(a.get<double>(), b.get<double>());
    return a == b;
  }

  void differ(const std::string& place, std::string stands, std::string now) {
    result_.differences.push_back({place, std::move(stands), std::move(now)});
  }

  void compare_members(const Json& stands, const Json& now, const std::string& place) {
    for (const auto& [key, value] : stands.items())
      if (!now.contains(key)) differ(place + "/" + key, shown(value), "nothing");
    for (const auto& [key, value] : now.items())
      if (stands.contains(key))
        compare(stands[key], value, place + "/" + key);
      else
        differ(place + "/" + key, "nothing", shown(value));
  }

  void compare_packed(const Json& stands, const Json& now, const std::string& place) {
    const std::vector<double> there = unpacked(stands);
    const std::vector<double> made = unpacked(now);
    result_.cells += static_cast<Index>(made.size());
    if (there.size() != made.size())
      return differ(place, fmt::format("{} numbers", there.size()), fmt::format("{} numbers", made.size()));
    const double rounding = stands["scale"].get<double>() + now["scale"].get<double>();
    for (std::size_t i = 0; i < made.size(); ++i)
      if (!agree(there[i], made[i], rounding))
        differ(fmt::format("{}, number {}", place, i + 1), fmt::format("{:.5g}", there[i]),
               fmt::format("{:.5g}", made[i]));
  }

  void compare_tables(const std::string& stands, const std::string& now, const std::string& place) {
    Comparison tables =
        tapehead::compare(CsvTable::parse(stands, place), CsvTable::parse(now, place), tolerance_);
    result_.cells += tables.cells;
    for (Difference& difference : tables.differences)
      differ(place + ", " + difference.place, std::move(difference.stands), std::move(difference.recomputed));
  }

  double tolerance_;
  Comparison result_;
};

/// What shows the document: markup, style and script, which have to be this program's.
void verify_frame(std::string_view page, const Json& document, Verified& verified) {
  const Json::json_pointer by("/made_by/version");
  if (!document.contains(by) || document[by] != version())
    verified.left_out = "its markup and script, which another version wrote";
  else if (page_text(document_in(page)) != page)
    verified.differences.push_back({"markup, style and script", "others", "those of this version"});
}

}  // namespace

Verified verify_page(const RunDirectory& run, const VerifyOptions& options) {
  const MappedFile page(run.page_file(), "page");
  const Json stands = Json::parse(document_in(page.bytes()), nullptr, false);
  require(!stands.is_discarded(), "[page] the data in {} are damaged: they are no JSON",
          run.page_file().string());
  DocumentComparison comparison(options.tolerance);
  comparison.compare(stands, Json::parse(page_data(run, options.threads).document), "");
  Comparison result = std::move(comparison).result();
  Verified verified{std::string(kPageFile), result.cells, std::move(result.differences)};
  verify_frame(page.bytes(), stands, verified);
  return verified;
}

}  // namespace tapehead
