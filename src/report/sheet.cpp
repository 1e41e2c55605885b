#include "tapehead/report/sheet.h"

#include "tapehead/base/require.h"
#include "tapehead/report/lettering.h"

namespace tapehead {

namespace {

// Pixels from one line's middle to the next, and from the figure's edges to the first and the last one.
constexpr int kTitleLine = 24;
constexpr int kFirstLine = 24;
constexpr int kLastLine = 16;
constexpr int kKeyLine = 20;
constexpr int kBetweenKeys = 24;
constexpr int kUnderTitle = 7;      // more than between two lines
constexpr int kAfterHead = 22;      // from the last line above the plots to these
constexpr int kBeforeRemarks = 14;  // from the plots to the first line below

struct PlacedLine {
  std::string text;
  int x;
  int y;
  Lettering lettering;
};

/// The lines above the plots, and where they end.
struct Head {
  std::vector<PlacedLine> lines;
  int bottom = kFirstLine - kTitleLine;
};

void add_paragraph(Head& head, const std::string& text, int width, int line, const Lettering& lettering) {
  for (std::string& words : wrap(text, width - 2 * kEdge, lettering.size, lettering.is_bold)) {
    head.bottom += line;
    head.lines.push_back({std::move(words), kEdge, head.bottom, lettering});
  }
}

Head head_of(const Caption& caption, int width) {
  Head head;
  add_paragraph(head, caption.title, width, kTitleLine, {.size = kTitleText, .is_bold = true});
  head.bottom += kUnderTitle;
  add_paragraph(head, caption.subtitle, width, kLine, {.colour = kGrey});
  int x = width;  // no room: the first entry begins a line
  for (const ColouredWords& entry : caption.key) {
    const int entry_width = static_cast<int>(text_width(entry.text, kText)) + 1;
    if (x + entry_width > width - kEdge) {
      x = kEdge;
      head.bottom += kKeyLine + (&entry == caption.key.data() ? 3 : 0);
    }
    head.lines.push_back({entry.text, x, head.bottom, {.colour = entry.colour}});
    x += entry_width + kBetweenKeys;
  }
  head.bottom += kAfterHead;
  return head;
}

std::vector<ColouredWords> lines_of(const std::vector<ColouredWords>& remarks, int width) {
  std::vector<ColouredWords> lines;
  for (const ColouredWords& remark : remarks)
    for (std::string& line : wrap(remark.text, width - 2 * kEdge, kSmallText))
      lines.push_back({std::move(line), remark.colour});
  return lines;
}

void set_look(GnuplotScript& script) {
  script.line("set datafile missing 'nan'\nset minussign");
  script.line("set border 3 linecolor rgb '{}' linewidth 0.8", kGrey);
  script.line("set tics nomirror out scale 0.5 font ',{}' textcolor rgb '{}'", kText, kInk);
  script.line("set grid ytics linetype 1 linecolor rgb '{}' linewidth 0.6", kPaleGrey);
  script.line("set key off\nset multiplot");
}

}  // namespace

Sheet start_sheet(std::string name, const FigureSize& size, const Caption& caption,
                  const PlotHeights& heights) {
  const Head head = head_of(caption, size.width);
  const std::vector<ColouredWords> remarks = lines_of(caption.remarks, size.width);
  const int below =
      remarks.empty() ? 0 : kBeforeRemarks + (static_cast<int>(remarks.size()) - 1) * kLine + kLastLine;
  const int words = head.bottom + heights.around + below;
  require(size.height == 0 || size.height >= words + heights.least,
          "[figures] expected a height of at least {} pixels for the figure {} with a width of {}, got {}",
          words + heights.least, name, size.width, size.height);

  Sheet sheet{{std::move(name), size.width, size.height > 0 ? size.height : words + heights.plots, {}}};
  sheet.top = head.bottom;
  sheet.plots = sheet.figure.height - words;
  set_look(sheet.figure.script);
  for (const PlacedLine& line : head.lines) write(sheet.figure, line.text, line.x, line.y, line.lettering);
  int y = sheet.figure.height - kLastLine - (static_cast<int>(remarks.size()) - 1) * kLine;
  for (const ColouredWords& remark : remarks) {
    write(sheet.figure, remark.text, kEdge, y, {.colour = remark.colour, .size = kSmallText});
    y += kLine;
  }
  return sheet;
}

}  // namespace tapehead
