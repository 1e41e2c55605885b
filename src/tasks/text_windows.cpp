#include "tapehead/tasks/text_windows.h"

#include <cmath>
#include <unordered_map>

#include "tapehead/base/digest.h"
#include "tapehead/base/file.h"
#include "tapehead/base/require.h"
#include "tapehead/text/character_tokenizer.h"
#include "tapehead/text/utf8.h"

namespace tapehead {

namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Where in the text, in bytes, the given share of its characters ends.
std::size_t part_of(std::string_view text, double share) {
  Index characters = 0;
  for (const char byte : text)
    if (!continues_character(byte)) ++characters;
  auto left = static_cast<Index>(std::floor(share * static_cast<double>(characters)));
  std::size_t bytes = 0;
  for (; bytes < text.size(); ++bytes)
    if (!continues_character(text[bytes]) && left-- == 0) break;
  return bytes;
}

/// Fills row b with the window that begins at `tokens`.
void fill_row(Batch& batch, Index b, const std::int32_t* tokens) {
  for (Index t = 0; t < batch.length(); ++t) {
    batch.inputs(b, t) = tokens[t];
    batch.targets(b, t) = tokens[t + 1];
  }
  mark_repeats(batch, b);
}

Batch sample_windows(std::span<const std::int32_t> tokens, Index length, Generator& generator, Index count) {
  Batch batch = noise_batch(count, length);
  const Index places = static_cast<Index>(tokens.size()) - length;
  for (Index b = 0; b < count; ++b) fill_row(batch, b, tokens.data() + generator.below(places));
  return batch;
}

}  // namespace

void mark_repeats(Batch& batch, Index b) {
  std::unordered_map<std::uint64_t, std::int32_t> last_place;  // of each token with its target
  for (Index t = 0; t < batch.length(); ++t) {
    const std::uint64_t pair = static_cast<std::uint64_t>(batch.inputs(b, t)) << 32 |
                               static_cast<std::uint32_t>(batch.targets(b, t));
    const auto [place, is_new] = last_place.try_emplace(pair, static_cast<std::int32_t>(t));
    if (is_new) continue;
    batch.kinds(b, t) = Kind::induction;
    batch.earlier_copy(b, t) = std::exchange(place->second, static_cast<std::int32_t>(t));
  }
}

TextWindows::TextWindows(const Config& config) : config_(config) {
  require(config.length >= 1, "[text] expected a length of at least 1, got {}", config.length);
  const MappedFile file(config.file, "text");
  std::string_view text = file.bytes();
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte-order mark says nothing
  if (text.empty()) throw UsageError(fmt::format("[text] {} is empty", config.file.string()));
  const std::size_t invalid = find_invalid_utf8(text);
  if (invalid != std::string_view::npos)
    throw Error(fmt::format(
        "[text] {}: expected UTF-8, got the byte {:#04x} at offset {}; iconv turns other encodings into it",
        config.file.string(), static_cast<unsigned char>(text[invalid]), invalid));
  if (config.tokenizer == kCharacters)
    tokenizer_ = std::make_shared<CharacterTokenizer>(CharacterTokenizer::from_text(text));
  else
    tokenizer_ = load_tokenizer(config.tokenizer);
  if (tokenizer_->size() > config.vocabulary)
    throw UsageError(
        fmt::format("[text] {} has a vocabulary of {} tokens, the model one of {}: set model.vocabulary = {}",
                    config.file.string(), tokenizer_->size(), config.vocabulary, tokenizer_->size()));
  const std::size_t cut = part_of(text, config.training_share);
  training_ = tokenizer_->encode(text.substr(0, cut));
  held_out_ = tokenizer_->encode(text.substr(cut));
  for (const auto& [part, name] : {std::pair(&training_, "trained on"), std::pair(&held_out_, "held out")})
    if (static_cast<Index>(part->size()) <= config.length)
      throw UsageError(
          fmt::format("[text] the part of {} that is {} has {} tokens, too few for a window of {} and the "
                      "token after: set task.length or task.training_share",
                      config.file.string(), name, part->size(), config.length));
}

Batch TextWindows::sample(Generator& generator, Index count) const {
  return sample_windows(training_, config_.length, generator, count);
}

Batch TextWindows::sample_held_out(Generator& generator, Index count) const {
  return sample_windows(held_out_, config_.length, generator, count);
}

Batch TextWindows::held_out() const {
  const Index count = (static_cast<Index>(held_out_.size()) - 1) / config_.length;
  Batch batch = noise_batch(count, config_.length);
  for (Index b = 0; b < count; ++b) fill_row(batch, b, held_out_.data() + b * config_.length);
  return batch;
}

std::string TextWindows::fingerprint() const {
  Digest digest;
  for (const auto* part : {&training_, &held_out_}) {
    digest.add(static_cast<std::uint32_t>(part->size()));
    for (const std::int32_t id : *part) digest.add(static_cast<std::uint32_t>(id));
  }
  return digest.text();
}

}  // namespace tapehead
