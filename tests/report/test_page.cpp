#include "tapehead/report/page.h"

#include <algorithm>

#include "support/testing.h"
#include "tapehead/base/require.h"
#include "tapehead/report/page_parts.h"

using namespace tapehead;

namespace {

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("a page holds its document, its style and its script, and asks nobody for anything") {
  const std::string page = page_text(R"({"run":1})");
  CHECK(document_in(page) == R"({"run":1})");
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(page.find(page_style()) != std::string::npos);
  CHECK(page.find(page_script()) != std::string::npos);
  CHECK(page.find("default-src 'none'") != std::string::npos);
  CHECK(page.size() < 2'000'000);
  for (const char* part : {"<!-- style -->", "<!-- data -->", "<!-- script -->", "<link", "src="})
    CHECK(count_of(page_markup(), part) + count_of(page, part) ==
          (std::string_view(part).starts_with("<!--") ? 1 : 0));
  // Scripts name addresses of namespaces, and none to fetch from.
  for (const char* call : {"fetch(", "XMLHttpRequest", "WebSocket", "import(", "sendBeacon"})
    CHECK(count_of(page_script(), call) == 0);
}

TEST_CASE("nothing in a document ends its script or begins markup") {
  const std::string hostile =
      R"({"name":"</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>"})";
  const std::string page = page_text(hostile);
  CHECK(count_of(page, "<script") == count_of(page_text("{}"), "<script"));
  CHECK(page.find("<img") == std::string::npos);
  const std::string_view document = document_in(page);
  CHECK(std::ranges::count(document, '<') == 0);
  CHECK(count_of(document, R"(\u003cscript>alert(1)\u003c/script>)") == 1);
}

TEST_CASE("a file that is no page is said to be none") {
  for (const char* text : {"", "<!doctype html>", R"(<script type="application/json" id="data">{)"})
    CHECK_THROWS_WITH_AS(document_in(text), doctest::Contains("a page that tapehead report wrote"), Error);
}
