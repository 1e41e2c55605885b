/// A model that writes: it reads a prompt, and then its own words, a token at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "tapehead/nn/key_value_cache.h"
#include "tapehead/nn/transformer.h"
#include "tapehead/text/sampling.h"

namespace tapehead {

struct WriterConfig {
  SamplingConfig sampling = {};
  std::uint64_t seed = 1;
  Index vocabulary =
      0;  ///< ids from here on are never written: a model may have more than its text; 0: all are
};

/// Keys and values of what was read are kept, so a token costs one position; beyond the model's context the
/// last `context` tokens are read anew for each. Equal seeds write equal texts.
class Writer {
 public:
  /// To go on from the prompt, of which only the last `context` tokens count. Throws Error for an empty
  /// prompt and for ids outside the vocabulary, UsageError for a wrong config. The model must outlive the
  /// writer.
  Writer(const Transformer& model, std::vector<std::int32_t> prompt, const WriterConfig& config = {},
         Watch watch = {});

  /// Reads what is new and writes one token more.
  std::int32_t next();
  /// The logits that the last token was chosen by, (vocabulary).
  std::span<const Real> logits() const { return logits_; }
  /// The prompt and what was written.
  const std::vector<std::int32_t>& text() const { return text_; }

 private:
  void read();

  const Transformer* model_;
  WriterConfig config_;
  Watch watch_;
  Generator generator_;
  KeyValueCache cache_;
  std::vector<std::int32_t> text_;
  std::vector<Real> logits_;
};

}  // namespace tapehead
