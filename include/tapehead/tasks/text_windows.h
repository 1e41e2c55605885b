/// Windows of a text.
#pragma once

#include <filesystem>
#include <span>

#include "tapehead/tasks/task.h"

namespace tapehead {

/// Marks the positions of row b whose token was followed by its target before, from inputs and targets.
void mark_repeats(Batch& batch, Index b);

/// Sequences of `length` tokens and the one after, each from a place of the text drawn anew. The end of the
/// text is held out: no window of training reaches into it, and none of the held-out part before it. A
/// position counts as induction where its token was followed by its target earlier in the window.
class TextWindows : public Task {
 public:
  struct Config {
    std::filesystem::path file;                     ///< UTF-8
    std::filesystem::path tokenizer = kCharacters;  ///< that word, or a folder (see load_tokenizer)
    Index vocabulary = 0;                           ///< of the model: at least that of the text
    Index length = 48;                              ///< positions of a sequence
    double training_share = 0.9;                    ///< of the characters
  };
  /// One token a character, of those that the text has.
  static constexpr const char* kCharacters = "characters";

  /// Reads the text. Throws Error for files that cannot be read and bytes that are no UTF-8, UsageError where
  /// the text's vocabulary is larger than the model's, and where a part is too short for a window.
  explicit TextWindows(const Config& config);

  Batch sample(Generator& generator, Index count) const override;
  Batch sample_held_out(Generator& generator, Index count) const override;
  /// Windows side by side from the beginning of that part; up to `length` tokens at its end are left over.
  Batch held_out() const override;
  std::shared_ptr<const Tokenizer> tokenizer() const override { return tokenizer_; }
  /// Of all tokens and of where they are parted.
  std::string fingerprint() const override;
  Index vocabulary() const override { return config_.vocabulary; }
  Index length() const override { return config_.length; }

  std::span<const std::int32_t> training_tokens() const { return training_; }
  std::span<const std::int32_t> held_out_tokens() const { return held_out_; }

 private:
  Config config_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::vector<std::int32_t> training_;
  std::vector<std::int32_t> held_out_;
};

}  // namespace tapehead
