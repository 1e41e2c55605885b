/// The parts of every run's page that tell of no run: markup, style and script, each as one text, as they
/// stood in src/report/page/ when this was built.
#pragma once

#include <string_view>

namespace tapehead {

/// Has one comment for each part that is to be put in: <!-- style -->, <!-- data -->, <!-- script -->.
std::string_view page_markup();
std::string_view page_style();
/// With what it uses of D3, by which the pictures are drawn.
std::string_view page_script();

}  // namespace tapehead
