#include "tapehead/tasks/identifier.h"

#include <algorithm>
#include <array>
#include <limits>

#include "tapehead/base/require.h"
#include "tapehead/text/character_tokenizer.h"

namespace tapehead {

namespace {

using Phrase = std::string_view;

constexpr Index kDigits = 3;
constexpr Index kIdentifier = 2 + kDigits;  ///< "P-104"
constexpr std::size_t kMostActions = 4;

/// Their first letters, as capitals, begin the identifiers.
constexpr std::array<Phrase, 8> kEquipment{"boiler", "compressor", "exchanger", "fan",
                                           "motor",  "pump",       "tank",      "valve"};
constexpr std::array<Phrase, 8> kFindings{"leaks",    "runs hot", "trips", "noisy",
                                          "vibrates", "low flow", "worn",  "off line"};
constexpr std::array<Phrase, 10> kActions{"added oil",   "new seal", "cleaned", "reset",    "aligned",
                                          "new bearing", "greased",  "checked", "balanced", "flushed"};
constexpr std::array<Phrase, 6> kEndings{"in service", "stopped", "tested", "runs", "under watch", "waits"};

char letter_of(Phrase equipment) { return static_cast<char>(equipment.front() - 'a' + 'A'); }

template <std::size_t N>
Phrase one_of(const std::array<Phrase, N>& phrases, Generator& generator) {
  return phrases[static_cast<std::size_t>(generator.below(static_cast<Index>(N)))];
}

template <std::size_t N>
Index longest_of(const std::array<Phrase, N>& phrases) {
  return static_cast<Index>(std::ranges::max(phrases, {}, &Phrase::size).size());
}

template <std::size_t N>
Index shortest_of(const std::array<Phrase, N>& phrases) {
  return static_cast<Index>(std::ranges::min(phrases, {}, &Phrase::size).size());
}

/// The draws that a line is made of.
struct Line {
  Phrase equipment;
  Index number = 0;
  Phrase finding;
  std::vector<Phrase> actions;
  Phrase ending;

  /// Where the identifier returns, from the line's beginning on.
  Index second() const {
    std::size_t place = kIdentifier + 1 + equipment.size() + 1 + finding.size() + 2;
    for (const Phrase action : actions) place += action.size() + 2;
    return static_cast<Index>(place);
  }
  /// In characters, its end of line among them.
  Index size() const { return second() + kIdentifier + 1 + static_cast<Index>(ending.size()) + 2; }

  std::string text() const {
    const std::string identifier =
        fmt::format("{}-{:0{}}", letter_of(equipment), number, static_cast<int>(kDigits));
    std::string text = fmt::format("{} {} {}; ", identifier, equipment, finding);
    for (const Phrase action : actions) text += fmt::format("{}; ", action);
    return text + fmt::format("{} {}.\n", identifier, ending);
  }
};

Line draw_line(Generator& generator) {
  Line line;
  line.equipment = one_of(kEquipment, generator);
  line.number = generator.below(1000);
  line.finding = one_of(kFindings, generator);
  do line.actions.push_back(one_of(kActions, generator));
  while (line.actions.size() < kMostActions && generator.below(2) == 0);
  line.ending = one_of(kEndings, generator);
  return line;
}

/// A line, or the first of a sequence, of which the beginning is not seen.
struct Piece {
  Line line;
  Index skipped = 0;

  Index size() const { return line.size() - skipped; }
  /// Calls f(position, its copy) for the induction positions, from the piece's beginning on, where there is
  /// room for so many tokens, the last target among them: the dash and all digits but the last.
  template <class F>
  void for_each_copy(Index room, const F& f) const {
    for (Index i = 1; skipped == 0 && i <= kDigits; ++i)
      if (line.second() + i + 1 < room) f(line.second() + i, i);
  }
};

/// The first of a sequence, which begins anywhere in a line's ending, or a later one.
Piece draw_piece(bool is_first, Generator& generator) {
  Piece piece{draw_line(generator)};
  if (!is_first) return piece;
  const Index ending = piece.line.second() + kIdentifier + 1;
  piece.skipped = ending + generator.below(piece.line.size() - ending);
  return piece;
}

/// What other pieces have to have in common with one, where there is room for so many tokens.
struct Shape {
  Index size;           ///< in tokens; `room` + 1 where it does not end
  Index position = -1;  ///< of its first copy, and of what that repeats
  Index earlier = -1;

  friend bool operator==(const Shape&, const Shape&) = default;
};

Shape shape_of(const Piece& piece, Index room) {
  Shape shape{std::min(piece.size(), room + 1)};
  piece.for_each_copy(room, [&](Index position, Index earlier) {
    if (shape.position < 0) shape = {shape.size, position, earlier};
  });
  return shape;
}

/// Of the piece that begins at `begin`.
Shape shape_at(const Batch& batch, Index b, Index begin, std::int32_t line_end) {
  Shape shape{batch.length() + 2 - begin};
  const auto token = [&](Index t) {
    return t < batch.length() ? batch.inputs(b, t) : batch.targets(b, t - 1);
  };
  for (Index t = begin; t <= batch.length(); ++t) {
    if (t < batch.length() && shape.position < 0 && batch.kinds(b, t) == Kind::induction)
      shape = {shape.size, t - begin, batch.earlier_copy(b, t) - begin};
    if (token(t) != line_end) continue;
    shape.size = t + 1 - begin;
    break;
  }
  return shape;
}

/// Writes lines into a sequence, from its beginning on.
class Writer {
 public:
  Writer(Batch& batch, Index b, const Tokenizer& tokenizer) : batch_(batch), b_(b), tokenizer_(tokenizer) {}

  /// How many tokens there is room for.
  Index room() const { return batch_.length() + 1 - end_; }
  Index end() const { return end_; }

  void add(const Piece& piece) {
    const std::vector<std::int32_t> tokens =
        tokenizer_.encode(piece.line.text().substr(static_cast<std::size_t>(piece.skipped)));
    const Index count = std::min(room(), piece.size());
    for (Index i = 0; i < count; ++i) {
      const Index t = end_ + i;
      if (t < batch_.length()) batch_.inputs(b_, t) = tokens[static_cast<std::size_t>(i)];
      if (t > 0) batch_.targets(b_, t - 1) = tokens[static_cast<std::size_t>(i)];
    }
    piece.for_each_copy(room(), [&](Index position, Index earlier) {
      batch_.kinds(b_, end_ + position) = Kind::induction;
      batch_.earlier_copy(b_, end_ + position) = static_cast<std::int32_t>(end_ + earlier);
    });
    end_ += count;
  }

 private:
  Batch& batch_;
  Index b_;
  const Tokenizer& tokenizer_;
  Index end_ = 0;
};

/// One of that shape, of all that have it.
Piece draw_piece(const Shape& shape, bool is_first, Index room, Generator& generator) {
  constexpr int kMostTries = 10'000'000;
  for (int i = 0; i < kMostTries; ++i) {
    Piece piece = draw_piece(is_first, generator);
    if (shape_of(piece, room) == shape) return piece;
  }
  throw Error("[task] expected sequences that this task drew, to draw others of the same structure");
}

/// Of every line that there can be.
std::string every_character() {
  std::string text = "0123456789-; .\n";
  for (const Phrase equipment : kEquipment) text += letter_of(equipment);
  const auto add = [&text](const auto& phrases) {
    for (const Phrase phrase : phrases) text += phrase;
  };
  add(kEquipment);
  add(kFindings);
  add(kActions);
  add(kEndings);
  return text;
}

/// From its first occurrence on, where an identifier returns at the earliest and at the latest.
Periods distances() {
  const Index around = kIdentifier + 1 + 1 + 2;
  const Index most = static_cast<Index>(kMostActions);
  return {around + shortest_of(kEquipment) + shortest_of(kFindings) + shortest_of(kActions) + 2,
          around + longest_of(kEquipment) + longest_of(kFindings) + most * (longest_of(kActions) + 2)};
}

}  // namespace

Index Identifier::characters() { return CharacterTokenizer::from_text(every_character()).size(); }

Index Identifier::shortest_length() {
  constexpr Index end_of_a_line = 1;  // with which a sequence begins at the shortest
  return end_of_a_line + distances().shortest + kIdentifier - 1;
}

Identifier::Identifier(const Config& config)
    : config_(config),
      tokenizer_(std::make_shared<CharacterTokenizer>(CharacterTokenizer::from_text(every_character()))) {
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  if (config.vocabulary < tokenizer_->size() || config.vocabulary > most)
    throw UsageError(fmt::format("[task] expected a vocabulary of {} to {}, got {}", tokenizer_->size(), most,
                                 config.vocabulary));
  if (config.length < shortest_length())
    throw UsageError(
        fmt::format("[task] expected a length of at least {}, got {}: no line would return to "
                    "its identifier",
                    shortest_length(), config.length));
}

std::optional<Periods> Identifier::periods() const {
  const Periods all = distances();
  return Periods{all.shortest, std::min(all.longest, config_.length - 3)};
}

Batch Identifier::sample(Generator& generator, Index count) const {
  Batch batch = noise_batch(count, config_.length);
  for (Index b = 0; b < count; ++b)
    for (Writer writer(batch, b, *tokenizer_); writer.room() > 0;)
      writer.add(draw_piece(writer.end() == 0, generator));
  return batch;
}

Batch Identifier::resample(const Batch& batch, Generator& generator) const {
  const std::int32_t line_end = tokenizer_->encode("\n").front();
  Batch fresh = noise_batch(batch.size(), batch.length());
  for (Index b = 0; b < batch.size(); ++b)
    for (Writer writer(fresh, b, *tokenizer_); writer.room() > 0;) {
      const Shape shape = shape_at(batch, b, writer.end(), line_end);
      writer.add(draw_piece(shape, writer.end() == 0, writer.room(), generator));
    }
  return fresh;
}

}  // namespace tapehead
