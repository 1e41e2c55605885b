#include "tapehead/report/page.h"

#include "tapehead/base/require.h"
#include "tapehead/report/page_parts.h"

namespace tapehead {

namespace {

constexpr std::string_view kDataBegin = R"(<script type="application/json" id="data">)";
constexpr std::string_view kDataEnd = "</script>";

void put_in(std::string& page, std::string_view part, const std::string& text) {
  const std::string place = fmt::format("<!-- {} -->", part);
  const std::size_t at = page.find(place);
  ensure(at != std::string::npos, "[page] the markup has no place for the {}", part);
  page.replace(at, place.size(), text);
}

/// JSON in which nothing ends a script: `<`, which only its strings may hold, is written as they also can.
std::string embeddable(std::string_view document) {
  std::string text;
  text.reserve(document.size());
  for (const char c : document)
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

}  // namespace

std::string page_text(std::string_view document) {
  std::string page(page_markup());
  put_in(page, "style", fmt::format("<style>\n{}</style>", page_style()));
  put_in(page, "script", fmt::format("<script>\n{}</script>", page_script()));
  put_in(page, "data", fmt::format("{}{}{}", kDataBegin, embeddable(document), kDataEnd));
  return page;
}

std::string_view document_in(std::string_view page) {
  const std::size_t begin = page.find(kDataBegin);
  const std::size_t end = begin == std::string_view::npos ? begin : page.find(kDataEnd, begin);
  require(end != std::string_view::npos,
          "[page] expected a page that tapehead report wrote: there are no data of a run in it");
  return page.substr(begin + kDataBegin.size(), end - begin - kDataBegin.size());
}

}  // namespace tapehead
