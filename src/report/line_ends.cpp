#include "tapehead/report/line_ends.h"

#include <algorithm>
#include <cmath>

#include "tapehead/report/lettering.h"

namespace tapehead {

namespace {

constexpr int kGap = 8;  // pixels from a panel to its labels

int size_of(const EndLabel& label) { return label.is_minor ? kSmallText : kText; }

}  // namespace

int right_of_plots(int width, const std::vector<EndLabel>& labels) {
  double widest = 0;
  for (const EndLabel& label : labels) widest = std::max(widest, text_width(label.text, size_of(label)));
  return width - kEdge - kGap - static_cast<int>(std::ceil(widest));
}

std::vector<double> spread(const std::vector<double>& wanted, double gap) {
  struct Group {
    double sum;  // of the places wanted for the first of the group
    double count;
    double first() const { return sum / count; }
  };
  std::vector<Group> groups;
  for (const double place : wanted) {
    Group group{place, 1};
    while (!groups.empty() && groups.back().first() + gap * groups.back().count > group.first()) {
      const Group before = groups.back();
      groups.pop_back();
      group.sum = before.sum + group.sum - gap * before.count * group.count;
      group.count += before.count;
    }
    groups.push_back(group);
  }
  std::vector<double> places;
  for (const Group& group : groups)
    for (double i = 0; i < group.count; ++i) places.push_back(group.first() + gap * i);
  return places;
}

void label_line_ends(Figure& figure, const Panel& panel, double low, double high,
                     std::vector<EndLabel> labels) {
  std::sort(labels.begin(), labels.end(), [](const EndLabel& a, const EndLabel& b) { return a.y < b.y; });
  const double pixels = panel.height();
  std::vector<double> wanted;
  for (const EndLabel& label : labels) wanted.push_back(pixels * (label.y - low) / (high - low));
  std::vector<double> places = spread(wanted, kLine);
  // Not over the panel's top, and clear of the numbers of the axis below.
  for (std::size_t i = 0; i < places.size(); ++i) {
    double& from_top = places[places.size() - 1 - i];
    from_top = std::min(from_top, pixels - kLine * static_cast<double>(i));
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] = std::max(places[i], kLine * (static_cast<double>(i) + 0.3));
  for (std::size_t i = 0; i < labels.size(); ++i)
    write(figure, labels[i].text, panel.right + kGap, panel.bottom - places[i],
          {.colour = labels[i].colour, .size = size_of(labels[i])});
}

}  // namespace tapehead
