/// The points of a grid: every value of one config field with every value of the others.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tapehead {

/// A field that is swept, and the values that it takes, as they were written.
struct GridAxis {
  std::string field;
  std::vector<std::string> values;
};

/// What stands at one place of an axis.
struct GridValue {
  std::string field;
  std::string value;

  /// "heads": the field without its table.
  std::string_view key() const { return std::string_view(field).substr(field.find('.') + 1); }
  /// "model.heads=2", as `--set` takes it.
  std::string text() const { return field + "=" + value; }
  friend bool operator==(const GridValue&, const GridValue&) = default;
};

/// One value of each axis, in their order. Without axes a grid has one point, which is empty.
using GridPoint = std::vector<GridValue>;

/// An axis from `table.key=value,value,...`; commas within brackets or quotes part nothing. Throws UsageError
/// for another form, for an unknown field, and for a value that is missing or comes twice.
GridAxis read_axis(std::string_view text);

/// All points, the last axis going round fastest. Throws UsageError for a field that is swept twice, and for
/// more points than `most`.
std::vector<GridPoint> grid_points(std::span<const GridAxis> axes, std::size_t most);

/// What a point's runs are kept under: "heads=2_width=64", with a dash for what a name of a folder had better
/// not hold. Empty for the point of no axis.
std::string folder_name(const GridPoint& point);

/// The same for people: "heads 2, width 64".
std::string in_words(const GridPoint& point);

/// "model.heads=2 model.width=64"; commas in a value become blanks, and quotes are left out.
std::string table_cell(const GridPoint& point);
std::string table_cell(const GridValue& value);

}  // namespace tapehead
