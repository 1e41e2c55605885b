/// A run's tokens as somebody reads and writes them: text where the run has a tokenizer, numbers where not.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tapehead/text/tokenizer.h"
#include "tapehead/text/utf8.h"
#include "tapehead/train/run_directory.h"

namespace tapehead::app {

class TokenText {
 public:
  /// With the run's tokenizer, if it has one. Throws Error for a tokenizer that the model is too small for.
  explicit TokenText(const RunDirectory& run);

  /// The tokens of what a user wrote. Throws UsageError for what is no text, or no numbers, of this run.
  std::vector<std::int32_t> tokens(const std::string& written, Specials specials) const;
  /// One token, to stand in a table: in quotes, with what cannot be seen escaped; or its number.
  std::string label(std::int32_t id) const;
  /// The next token of a text that is printed as it comes; at the end, what is held back of it.
  std::string print(std::int32_t id);
  std::string print_rest() { return stream_.flush(); }
  /// The tokens that mean something: ids below it.
  Index vocabulary() const;
  std::optional<std::int32_t> end_of_text() const;

 private:
  std::vector<std::int32_t> numbers(const std::string& written) const;

  std::string run_;
  Index model_vocabulary_;
  std::unique_ptr<Tokenizer> tokenizer_;
  Utf8Stream stream_;
  bool is_first_ = true;
};

}  // namespace tapehead::app
