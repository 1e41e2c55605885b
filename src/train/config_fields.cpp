#include "tapehead/train/config_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>

#include "tapehead/text/utf8.h"

namespace tapehead {

namespace {

Allowed at_least(double low) { return {.low = low}; }
Allowed between(double low, double high) { return {.low = low, .high = high}; }
Allowed inside(double low, double high) {
  return {.low = low, .high = high, .low_itself = false, .high_itself = false};
}
Allowed fraction_below_one() { return {.low = 0, .high = 1, .high_itself = false}; }
Allowed count(double low) { return between(low, kLargestCount); }
Allowed anything() { return {}; }
/// For an enum, in the order of its values.
Allowed words(std::vector<std::string_view> list) { return {.words = std::move(list)}; }

Allowed names_of_tasks() {
  Allowed names;
  for (const TaskKind& kind : task_kinds()) names.words.push_back(kind.name);
  return names;
}

auto& part(auto& config, const ModelConfig*) { return config.model; }
auto& part(auto& config, const TaskConfig*) { return config.task; }
auto& part(auto& config, const TrainConfig*) { return config.train; }
std::string_view table_of(const ModelConfig*) { return "model"; }
std::string_view table_of(const TaskConfig*) { return "task"; }
std::string_view table_of(const TrainConfig*) { return "train"; }

template <class Part, class Member>
ConfigField field(std::string_view key, Member Part::*member, Allowed allowed,
                  std::string_view documentation) {
  constexpr const Part* tag = nullptr;
  const std::vector<std::string_view> list = allowed.words;
  const auto get = [member, list](const Config& config) -> FieldValue {
    const Member& value = part(config, tag).*member;
    if constexpr (std::is_enum_v<Member>)
      return std::string(list.at(static_cast<std::size_t>(value)));
    else
      return value;
  };
  const auto set = [member, list](Config& config, const FieldValue& value) {
    Member& place = part(config, tag).*member;
    if constexpr (std::is_enum_v<Member>)
      place = static_cast<Member>(std::ranges::find(list, std::get<std::string>(value)) - list.begin());
    else
      place = std::get<Member>(value);
  };
  return {table_of(tag), key, std::move(allowed), documentation, get, set};
}

std::vector<ConfigField> list_fields() {
  using M = ModelConfig;
  using D = TaskConfig;
  using T = TrainConfig;
  return {
      field("vocabulary", &M::vocabulary, count(2),
            "Different tokens; their ids are 0, ..., vocabulary - 1."),
      field("context", &M::context, count(1), "The longest sequence the model can read, in tokens."),
      field("width", &M::width, count(1),
            "Numbers a token carries from layer to layer: the width of the residual stream."),
      field("heads", &M::heads, count(1),
            "Attention heads a layer. Each is width / heads wide, so width must be divisible by it."),
      field("layers", &M::layers, count(0),
            "Blocks in a row. Induction takes two: one head looks a token back, a later one uses that."),
      field("feed_forward", &M::feed_forward, count(0),
            "Hidden units of every block's feed-forward part; 0 leaves it out (attention only)."),
      field("layer_norm", &M::layer_norm, anything(),
            "Layer norm before attention, before feed-forward, and before the unembedding."),
      field("qkv_bias", &M::qkv_bias, anything(), "A bias on queries, keys and values."),
      field("bias", &M::bias, anything(), "A bias on every other linear layer, and on layer norm."),
      field("tied", &M::tied, anything(),
            "Use the embedding table as the unembedding too, instead of a matrix of its own."),
      field("dropout", &M::dropout, between(0, 1),
            "Chance that a value is set to zero in training; the rest are scaled up to make up for it."),
      field("positions", &M::positions, words({"learned", "sinusoidal", "none"}),
            "How a position enters: a learned table, fixed sines and cosines, or not at all."),
      field("gelu", &M::gelu, words({"tanh", "erf"}),
            "GELU of the feed-forward part: GPT-2's tanh approximation, or exact, by the error function."),
      field("initialisation", &M::initialisation, words({"fan_in", "gpt2", "imported"}),
            "Spread of starting weights: 1/sqrt(inputs), for few layers and heads; GPT-2's, for deep models; "
            "or "
            "none, since they were imported."),

      field("name", &D::name, names_of_tasks(),
            "Where the sequences come from. With a fixed period one layer is enough, by position alone."),
      field("length", &D::length, count(1),
            "Positions a sequence; the target of each is the token after it. At most model.context."),
      field("period_min", &D::period_min, count(1),
            "Shortest repeated segment, in tokens (repeated_sequence; every sequence draws its own)."),
      field("period_max", &D::period_max, count(1),
            "Longest repeated segment, in tokens (repeated_sequence)."),
      field("period", &D::period, count(1),
            "Length of the repeated segment, in tokens (fixed_period_sequence)."),
      field("segment", &D::segment, count(2), "Length of the copied segment, in tokens (copied_segment)."),
      field("file", &D::file, anything(), "A text in UTF-8, of which windows are read (text)."),
      field("tokenizer", &D::tokenizer, anything(),
            "What a token is (text): \"characters\", or a folder with GPT-2's vocab.json and merges.txt."),
      field("training_share", &D::training_share, inside(0, 1),
            "Share of the text's characters that is trained on; the rest, at its end, is held out (text)."),

      field("steps", &T::steps, count(0), "Updates of the parameters in the whole run."),
      field("batch", &T::batch, count(1), "Sequences a step, drawn fresh for each."),
      field("shard", &T::shard, count(1),
            "Sequences one thread takes at a time: a batch is cut into shards of this many, and a rest."),
      field("optimizer", &T::optimizer, words({"adamw", "adam", "sgd"}), "How a gradient becomes an update."),
      field("learning_rate", &T::learning_rate, at_least(0), "Size of an update once warm-up is over."),
      field("betas", &T::betas, fraction_below_one(),
            "Share kept each step of the running means of the gradient and of its square (adamw, adam)."),
      field("epsilon", &T::epsilon, at_least(1e-30),
            "Added to the root of the mean square before dividing by it (adamw, adam)."),
      field("momentum", &T::momentum, fraction_below_one(),
            "Share of the last update that goes into the next (sgd)."),
      field("weight_decay", &T::weight_decay, at_least(0),
            "Pull of matrices and embeddings towards zero: times learning_rate (adamw), or in the gradient."),
      field("warmup", &T::warmup, count(0),
            "Steps over which the learning rate rises from nothing to its full size."),
      field("schedule", &T::schedule, words({"constant", "cosine"}),
            "After warm-up the learning rate stays, or falls along half a cosine until the last step."),
      field("clip", &T::clip, at_least(0),
            "A gradient whose norm over all parameters is larger is scaled down to it; 0 turns this off."),
      field("initialisation_seed", &T::initialisation_seed, at_least(0), "Seed of the starting weights."),
      field("data_seed", &T::data_seed, at_least(0), "Seed of the training sequences."),
      field("dropout_seed", &T::dropout_seed, at_least(0), "Seed of what dropout drops."),
      field("evaluation_seed", &T::evaluation_seed, at_least(0),
            "Seed of the evaluation sequences, which never train."),
      field("evaluation_interval", &T::evaluation_interval, count(1),
            "Steps from one evaluation to the next."),
      field("evaluation_sequences", &T::evaluation_sequences, count(1), "Sequences an evaluation."),
      field("checkpoint_interval", &T::checkpoint_interval, count(1),
            "Steps from one saved checkpoint to the next; the last step is always saved."),
  };
}

/// The fewest digits that read back the same: "0.5", "3e-4", "1e9".
std::string shortest(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  const std::size_t exponent = text.find('e');
  if (exponent == std::string::npos || !std::isfinite(value)) return text;
  const std::size_t digits = text.find_first_not_of("+-0", exponent + 1);
  return text.substr(0, exponent) + (text[exponent + 1] == '-' ? "e-" : "e") + text.substr(digits);
}

/// As a float in TOML, which tells 1 from 1.0.
std::string written_float(double value) {
  const std::string text = shortest(value);
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

std::string range_text(const Allowed& allowed) {
  const std::string low = shortest(allowed.low);
  if (std::isfinite(allowed.high) && !allowed.low_itself)
    return fmt::format(" above {} and {} {}", low, allowed.high_itself ? "at most" : "below",
                       shortest(allowed.high));
  if (std::isfinite(allowed.high))
    return fmt::format(" from {} to {}{}", low, allowed.high_itself ? "" : "below ", shortest(allowed.high));
  return fmt::format(" {} {}", allowed.low_itself ? "of at least" : "above", low);
}

std::string join(const std::vector<std::string_view>& words) {
  std::string text(words.front());
  for (std::size_t i = 1; i < words.size(); ++i)
    text += fmt::format("{}{}", i + 1 < words.size() ? ", " : " or ", words[i]);
  return text;
}

bool in_range(const Allowed& allowed, double value) {
  return std::isfinite(value) && (allowed.low_itself ? value >= allowed.low : value > allowed.low) &&
         (allowed.high_itself ? value <= allowed.high : value < allowed.high);
}

/// The words in lines of at most 100 columns, each begun by `start`.
std::string wrapped(std::string_view words, std::string_view start) {
  constexpr std::size_t kColumns = 100;
  std::string text;
  while (start.size() + words.size() > kColumns) {
    const std::size_t space = words.rfind(' ', kColumns - start.size());
    text += fmt::format("{}{}\n", start, words.substr(0, space));
    words.remove_prefix(space + 1);
  }
  return text + fmt::format("{}{}\n", start, words);
}

/// What `lines` makes of every field, under the headings of the tables.
std::string by_table(const std::function<std::string(const ConfigField&)>& lines) {
  std::string text;
  std::string_view table;
  for (const ConfigField& field : config_fields()) {
    if (field.table != table) text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", field.table);
    table = field.table;
    text += lines(field);
  }
  return text;
}

/// As a string in TOML.
std::string toml_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

bool ConfigField::is_free_text() const {
  return allowed.words.empty() && std::holds_alternative<std::string>(get(Config{}));
}

bool ConfigField::admits(const FieldValue& value) const {
  const auto fits = [this](double number) { return in_range(allowed, number); };
  return std::visit(Overloaded{
                        [](bool) { return true; },
                        [&](Index number) { return fits(static_cast<double>(number)); },
                        // TOML has no larger integers.
                        [&](std::uint64_t number) {
                          return std::in_range<std::int64_t>(number) && fits(static_cast<double>(number));
                        },
                        [&](double number) { return fits(number); },
                        [&](const std::array<double, 2>& pair) { return fits(pair[0]) && fits(pair[1]); },
                        [&](const std::string& word) {
                          return is_free_text()
                                     ? is_printable(word) && word.size() <= kLongestText
                                     : std::ranges::find(allowed.words, word) != allowed.words.end();
                        },
                    },
                    value);
}

std::string ConfigField::expected() const {
  return std::visit(
      Overloaded{
          [](bool) -> std::string { return "true or false"; },
          [&](Index) { return "an integer" + range_text(allowed); },
          [&](std::uint64_t) { return "an integer" + range_text(allowed); },
          [&](double) { return "a number" + range_text(allowed); },
          [&](const std::array<double, 2>&) { return "two numbers, each" + range_text(allowed); },
          [&](const std::string&) -> std::string {
            return is_free_text() ? fmt::format("text in UTF-8, in quotes, of at most {} bytes", kLongestText)
                                  : join(allowed.words);
          },
      },
      get(Config{}));
}

std::string written(const FieldValue& value) {
  return std::visit(Overloaded{
                        [](bool truth) -> std::string { return truth ? "true" : "false"; },
                        [](Index number) { return std::to_string(number); },
                        [](std::uint64_t number) { return std::to_string(number); },
                        [](double number) { return written_float(number); },
                        [](const std::array<double, 2>& pair) {
                          return fmt::format("[{}, {}]", written_float(pair[0]), written_float(pair[1]));
                        },
                        [](const std::string& word) { return toml_string(word); },
                    },
                    value);
}

const std::vector<ConfigField>& config_fields() {
  static const std::vector<ConfigField> fields = list_fields();
  return fields;
}

std::vector<const ConfigField*> differing_fields(const Config& a, const Config& b) {
  std::vector<const ConfigField*> differing;
  for (const ConfigField& field : config_fields())
    if (field.get(a) != field.get(b)) differing.push_back(&field);
  return differing;
}

std::string to_toml(const Config& config) {
  validate(config);
  return by_table([&](const ConfigField& field) {
    return wrapped(field.documentation, "# ") +
           fmt::format("{} = {}\n", field.key, written(field.get(config)));
  });
}

std::string describe_fields() {
  const Config defaults;
  return by_table([&](const ConfigField& field) {
    const std::string value = written(field.get(defaults));
    return wrapped(fmt::format("{}: {}; default {}", field.key, field.expected(), value), "  ") +
           wrapped(field.documentation, "      ");
  });
}

}  // namespace tapehead
