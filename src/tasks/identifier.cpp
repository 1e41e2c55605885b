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

/// Their first letters, as capitals, begin the identifiers.
constexpr std::array<Phrase, 8> kEquipment{"boiler", "compressor", "exchanger", "fan",
                                           "motor",  "pump",       "tank",      "valve"};
constexpr std::array<Phrase, 8> kFindings{"leaks",     "runs hot",        "vibration high",
                                          "trips",     "noisy again",     "pressure low",
                                          "seal worn", "off its setpoint"};
constexpr std::array<Phrase, 10> kActions{
    "checked seal", "replaced bearing", "cleaned filter", "tightened bolts", "added oil",
    "flushed line", "measured gap",     "new gasket",     "aligned shaft",   "reset alarm"};
constexpr std::array<Phrase, 6> kEndings{"back in service", "stopped",         "under watch",
                                         "runs again",      "waits for parts", "tested"};

char letter_of(Phrase equipment) { return static_cast<char>(equipment.front() - 'a' + 'A'); }

template <std::size_t N>
Phrase one_of(const std::array<Phrase, N>& phrases, Generator& generator) {
  return phrases[static_cast<std::size_t>(generator.below(static_cast<Index>(N)))];
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

/// With so many actions; with 0, as many as it happens.
Line draw_line(Index actions, Generator& generator) {
  Line line;
  line.equipment = one_of(kEquipment, generator);
  line.number = generator.below(1000);
  line.finding = one_of(kFindings, generator);
  const auto goes_on = [&] {
    return actions == 0 ? generator.below(2) == 0 : static_cast<Index>(line.actions.size()) < actions;
  };
  do line.actions.push_back(one_of(kActions, generator));
  while (goes_on());
  line.ending = one_of(kEndings, generator);
  return line;
}

/// What is seen of a line where so many tokens are left of its sequence, the last target among them.
struct Shape {
  Index room;
  Index size = room + 1;  ///< in tokens; `room` + 1 where the line is cut
  Index second = room;    ///< where its identifier returns; `room` where no digit of that is a target
  Index actions = 0;      ///< before it returns, where it does

  bool is_of(const Line& line) const {
    return size == std::min(line.size(), room + 1) &&
           second == (line.second() + 2 < room ? line.second() : room);
  }
};

Shape shape_at(const Batch& batch, Index b, Index begin, const Tokenizer& tokenizer) {
  const std::vector<std::int32_t> marks = tokenizer.encode(";\n");
  Shape shape{batch.length() + 1 - begin};
  Index phrases = 0;
  for (Index t = begin; t < batch.length() && shape.size > shape.room; ++t) {
    if (batch.inputs(b, t) == marks[0]) ++phrases;
    if (batch.kinds(b, t) == Kind::induction && shape.actions == 0) {
      shape.second = t - 1 - begin;
      shape.actions = phrases - 1;
    }
    if (batch.targets(b, t) == marks[1]) shape.size = t + 2 - begin;
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

  void add(const Line& line) {
    const std::vector<std::int32_t> tokens = tokenizer_.encode(line.text());
    const Index count = std::min(room(), line.size());
    for (Index i = 0; i < count; ++i) {
      const Index t = end_ + i;
      if (t < batch_.length()) batch_.inputs(b_, t) = tokens[static_cast<std::size_t>(i)];
      if (t > 0) batch_.targets(b_, t - 1) = tokens[static_cast<std::size_t>(i)];
    }
    const Index second = line.second();
    for (Index i = 1; i <= kDigits; ++i) {  // the dash and all digits but the last
      const Index t = end_ + second + i;
      if (t >= batch_.length()) break;
      batch_.kinds(b_, t) = Kind::induction;
      batch_.earlier_copy(b_, t) = static_cast<std::int32_t>(t - second);
    }
    end_ += count;
  }

 private:
  Batch& batch_;
  Index b_;
  const Tokenizer& tokenizer_;
  Index end_ = 0;
};

Line draw_line(const Shape& shape, Generator& generator) {
  constexpr int kMostTries = 1'000'000;
  for (int i = 0; i < kMostTries; ++i) {
    Line line = draw_line(std::max<Index>(shape.actions, 0), generator);
    if (shape.is_of(line)) return line;
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

/// Where an identifier returns at the earliest, from its line's beginning on.
Index earliest_second() {
  return kIdentifier + 1 + shortest_of(kEquipment) + 1 + shortest_of(kFindings) + 2 + shortest_of(kActions) +
         2;
}

}  // namespace

Index Identifier::characters() { return CharacterTokenizer::from_text(every_character()).size(); }

Index Identifier::shortest_length() { return earliest_second() + kIdentifier - 1; }

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

std::optional<Periods> Identifier::periods() const { return Periods{earliest_second(), config_.length - 2}; }

Batch Identifier::sample(Generator& generator, Index count) const {
  Batch batch = noise_batch(count, config_.length);
  for (Index b = 0; b < count; ++b)
    for (Writer writer(batch, b, *tokenizer_); writer.room() > 0;) writer.add(draw_line(0, generator));
  return batch;
}

Batch Identifier::resample(const Batch& batch, Generator& generator) const {
  Batch fresh = noise_batch(batch.size(), batch.length());
  for (Index b = 0; b < batch.size(); ++b)
    for (Writer writer(fresh, b, *tokenizer_); writer.room() > 0;)
      writer.add(draw_line(shape_at(batch, b, writer.end(), *tokenizer_), generator));
  return fresh;
}

}  // namespace tapehead
