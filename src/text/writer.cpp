#include "tapehead/text/writer.h"

#include <algorithm>
#include <utility>

#include "tapehead/base/require.h"

namespace tapehead {

Writer::Writer(const Transformer& model, std::vector<std::int32_t> prompt, const WriterConfig& config,
               Watch watch)
    : model_(&model),
      config_(config),
      watch_(std::move(watch)),
      generator_(config.seed, Purpose::sampling),
      cache_(model.config()),
      text_(std::move(prompt)) {
  validate(config_.sampling);
  require(!text_.empty(), "[writer] expected a prompt of at least one token");
  const Index vocabulary = model.config().vocabulary;
  if (config_.vocabulary == 0) config_.vocabulary = vocabulary;
  require(config_.vocabulary >= 1 && config_.vocabulary <= vocabulary,
          "[writer] expected a vocabulary of 1 to the model's {}, got {}", vocabulary, config_.vocabulary);
  for (const std::int32_t id : text_)
    require(id >= 0 && id < vocabulary, "[writer] expected token ids between 0 and {}, got {}",
            vocabulary - 1, id);
}

void Writer::read() {
  const Index length = static_cast<Index>(text_.size());
  const Index context = model_->config().context;
  // Past the context every token moves down a position, so nothing that was read before holds.
  if (length > context) cache_.clear();
  const Index first = length > context ? length - context : cache_.length();
  const Tokens tokens(1, length - first, std::vector<std::int32_t>(text_.begin() + first, text_.end()));
  const Variable logits = (*model_)(Pass().reading_on(cache_).watched_by(watch_), tokens);
  const Real* last = logits.data() + logits.shape().count() - model_->config().vocabulary;
  logits_.assign(last, last + config_.vocabulary);
}

std::int32_t Writer::next() {
  read();
  const std::vector<double> chances = token_chances(logits_, config_.sampling);
  text_.push_back(static_cast<std::int32_t>(draw_token(chances, generator_)));
  return text_.back();
}

}  // namespace tapehead
