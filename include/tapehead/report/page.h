/// One file that holds a whole run to look at: HTML that opens from disk, and asks no server for anything.
#pragma once

#include <string>
#include <string_view>

namespace tapehead {

/// The page that shows a document of page_data. Nothing in the document, whatever the run's names and tokens
/// are, becomes a part of the page's markup.
std::string page_text(std::string_view document);

/// The document in a page's text. Throws Error for text that is no such page.
std::string_view document_in(std::string_view page);

}  // namespace tapehead
