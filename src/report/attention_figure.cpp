#include "tapehead/report/attention_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tapehead/nn/recorder.h"
#include "tapehead/report/style.h"
#include "tapehead/text/utf8.h"
#include "tapehead/train/evaluate.h"

namespace tapehead {

namespace {

constexpr std::string_view kSigns = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789#$";
// Sizes in pixels.
constexpr int kTop = 66;
constexpr int kLeft = 64;
constexpr int kColumnGap = 44;
constexpr int kTitle = 42;   // over each map
constexpr int kSigned = 26;  // under each map
constexpr int kScaleWidth = 112;
constexpr int kBottom = 74;
constexpr int kNumbersTaller = 18;  // how much more room tokens take that are numbers, not letters
constexpr int kMapsWidth = 720;     // of all maps in a row, within what a map may be
constexpr int kLargestMap = 330;
constexpr int kSmallestMap = 96;
constexpr int kRoomyMap = 200;      // wide enough for its title in one line
constexpr double kLegibleCell = 9;  // smaller cells go without signs on the axes

/// Whether every sign is a single character.
bool are_letters(const std::vector<std::string>& signs) {
  return std::ranges::all_of(
      signs, [](const std::string& sign) { return first_character(sign).length == sign.size(); });
}

/// After how many positions the sequence repeats, again and again, or 0.
Index period_of(const Batch& batch, Index b) {
  Index period = 0;
  while (period < batch.length() && batch.earlier_copy(b, period) < 0) ++period;
  for (Index t = period; t < batch.length(); ++t)
    if (batch.earlier_copy(b, t) != t - period) return 0;
  return period < batch.length() ? period : 0;
}

bool shows_well(const Batch& batch, Index b) {
  const Index period = period_of(batch, b);
  if (period < 8 || period > 12) return false;
  std::set<std::int32_t> tokens;
  for (Index t = 0; t < period; ++t) tokens.insert(batch.inputs(b, t));
  return static_cast<Index>(tokens.size()) == period;
}

template <class Value>
Table<Value> cut(const Table<Value>& table, Index b, Index length) {
  Table<Value> result(1, length);
  for (Index t = 0; t < length; ++t) result(0, t) = table(b, t);
  return result;
}

/// The score that says most about what a head looks at.
std::string best_score(const HeadScores& scores) {
  const ScoreDefinition* best = &kScores[0];
  for (const ScoreDefinition& definition : kScores)
    if (definition.score != Score::prefix_matching && definition.score != Score::copying &&
        scores[definition.score] > scores[best->score])
      best = &definition;
  std::string name(best->name);
  std::replace(name.begin(), name.end(), '_', ' ');
  return fmt::format("{} {:.2f}", name, scores[best->score]);
}

/// Signs of the tokens on both axes, beside cells of this many pixels.
void sign_axes(Figure& figure, const std::vector<std::string>& signs, double cell) {
  std::string tics;
  for (std::size_t t = 0; t < signs.size(); ++t)
    tics += fmt::format("{}{} {}", t == 0 ? "" : ", ", gnuplot_text(signs[t]), t);
  const int font = std::clamp(static_cast<int>(cell), 8, 12);
  figure.script.line("set xtics ({}) scale 0 font ',{}' {}", tics, font,
                     are_letters(signs) ? "offset 0,0.4" : "rotate by 90 right");
  figure.script.line("set ytics ({}) scale 0 font ',{}' offset 0.6,0", tics, font);
}

/// Names of the axes, further out where tokens that are numbers stand there.
void name_axes(Figure& figure, const char* query, const char* key, bool numbers) {
  figure.script.line(
      "set label 27 '{}' at graph {}, graph 0.5 center rotate by 90 font ',13' textcolor rgb '{}'", query,
      numbers ? -0.145 : -0.09, kInk);
  figure.script.line(
      "set label 28 '{}' at graph 0.5, graph 0 center offset 0,{} font ',13' textcolor rgb '{}'", key,
      numbers ? -3.1 : -1.9, kInk);
}

/// Key, query and weight of every cell; keys after the query are marked by -1.
std::vector<std::vector<double>> cells_of(const Tensor& pattern, Index head, Index length) {
  std::vector<std::vector<double>> columns(3);
  for (Index q = 0; q < length; ++q)
    for (Index k = 0; k < length; ++k) {
      columns[0].push_back(static_cast<double>(k));
      columns[1].push_back(static_cast<double>(q));
      columns[2].push_back(k <= q ? static_cast<double>(pattern(0, head, q, k)) : -1);
    }
  return columns;
}

/// Which head, and its highest score, in one line or in two.
void title_map(Figure& figure, const HeadScores& head, bool one_line, std::string_view colour) {
  const std::string name = fmt::format("'{{/:Bold layer {} head {}}}", head.layer, head.head);
  const std::string score = best_score(head);
  const std::string place = "at graph 0.5, graph 1 center font ',13'";
  if (one_line) {
    figure.script.line("set label 26 {}  {}' {} offset 0,0.8 textcolor rgb '{}'", name, score, place, colour);
    return;
  }
  figure.script.line("set label 26 {}' {} offset 0,1.8 textcolor rgb '{}'", name, place, colour);
  figure.script.line("set label 29 '{}' {} offset 0,0.7 textcolor rgb '{}'", score, place, colour);
}

/// What holds for all maps.
void start_maps(Figure& figure, Index length, Index period) {
  GnuplotScript& script = figure.script;
  script.line("unset grid\nunset xtics\nunset ytics\nset border 15 linecolor rgb '{}' linewidth 0.6", kGrey);
  script.line(
      "set palette defined (0 '#ffffff', 0.25 '#c6dbef', 0.5 '#6baed6', 0.75 '#2171b5', 1 '#08306b')");
  script.line("set cbrange [0:1]\nset xrange [-0.5:{0}]\nset yrange [{0}:-0.5]",
              static_cast<double>(length) - 0.5);
  script.line(
      "set object 2 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#ececec' fillstyle solid 1 "
      "noborder");
  if (period == 0) return;
  for (Index t = period; t < length; t += period) {
    const double edge = static_cast<double>(t) - 0.5;
    const std::string style = fmt::format("nohead front linecolor rgb '{}' linewidth 0.7 dashtype 3", kGrey);
    script.line("set arrow from first {0}, graph 0 to first {0}, graph 1 {1}", edge, style);
    script.line("set arrow from graph 0, first {0} to graph 1, first {0} {1}", edge, style);
  }
}

/// One bar for all maps, to the right of them.
void show_scale(Figure& figure, int left, int top, int bottom) {
  GnuplotScript& script = figure.script;
  script.line("set colorbox user origin screen {}, screen {} size screen {}, screen {}",
              1.0 * left / figure.width, 1 - 1.0 * bottom / figure.height, 14.0 / figure.width,
              1.0 * (bottom - top) / figure.height);
  script.line("set cbtics 0.25 scale 0 font ',12' format '%.2f'");
  script.line(
      "set label 1004 'attention weight' at screen {}, screen {} center rotate by 90 textcolor rgb '{}'",
      (left + 66.0) / figure.width, 1 - 0.5 * (top + bottom) / figure.height, kInk);
}

/// A token's text with what cannot be seen in it made visible, and no longer than the ids that the axes have
/// room for.
std::string visible(std::string_view bytes) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> signs;
  for (; !bytes.empty(); bytes.remove_prefix(first_character(bytes).length)) {
    const std::string_view text = bytes.substr(0, first_character(bytes).length);
    signs.emplace_back(text == " " ? "␣" : text == "\n" ? "↵" : is_printable(text) ? text : "·");
  }
  if (signs.size() <= kMost) return fmt::format("{}", fmt::join(signs, ""));
  signs.resize(kMost - 1);
  return fmt::format("{}…", fmt::join(signs, ""));
}

/// Lines of words below the maps.
void explain(Figure& figure, Index period, bool letters, const Config& config) {
  std::string first = "dark: looks there; grey: later than the query, out of sight";
  if (period > 0) first += fmt::format("; dotted: the segment of {} tokens repeats", period);
  std::string second = fmt::format(
      "numbers: the highest score, a mean over the evaluation batch of length {}", config.task.length);
  if (letters) second += "; letters, digits and signs: tokens";
  int height = 38;
  for (const std::string& line : {first, second}) {
    figure.script.line("set label {} {} at screen {}, screen {} left font ',12' textcolor rgb '{}'",
                       1100 + height, gnuplot_text(line), 20.0 / figure.width, 1.0 * height / figure.height,
                       kGrey);
    height -= 19;
  }
}

/// The first of those with the most induction positions among the first `length`.
Index most_repeating(const Batch& batch, Index length) {
  const auto repeats = [&](Index b) {
    Index count = 0;
    for (Index t = 0; t < length; ++t) count += batch.kinds(b, t) == Kind::induction ? 1 : 0;
    return count;
  };
  Index best = 0;
  for (Index b = 1; b < batch.size(); ++b)
    if (repeats(b) > repeats(best)) best = b;
  return best;
}

}  // namespace

Batch sequence_to_show(const Batch& batch) {
  require(batch.size() > 0, "[figures] expected a sequence to show, got an empty batch");
  Index chosen = 0;
  while (chosen < batch.size() && !shows_well(batch, chosen)) ++chosen;
  const Index length = std::min(batch.length(), kMapLength);
  if (chosen == batch.size()) chosen = most_repeating(batch, length);
  return {cut(batch.inputs, chosen, length), cut(batch.targets, chosen, length),
          cut(batch.kinds, chosen, length), cut(batch.earlier_copy, chosen, length)};
}

std::vector<std::string> token_signs(const Tokens& tokens, Index vocabulary, const Tokenizer* tokenizer) {
  std::vector<std::string> signs;
  for (const std::int32_t token : tokens.values())
    if (tokenizer != nullptr && token < tokenizer->size())
      signs.push_back(visible(tokenizer->bytes_of(token)));
    else if (vocabulary <= static_cast<Index>(kSigns.size()))
      signs.emplace_back(1, kSigns.at(static_cast<std::size_t>(token)));
    else
      signs.push_back(std::to_string(token));
  return signs;
}

Figure attention_figure(const Transformer& model, const Batch& sequence,
                        const std::vector<std::string>& signs, const std::vector<HeadScores>& scores,
                        const Config& config, Index step) {
  const Index layers = config.model.layers;
  const Index heads = config.model.heads;
  const Index length = sequence.length();
  const Index period = period_of(sequence, 0);

  std::vector<Site> sites;
  for (Index layer = 0; layer < layers; ++layer) sites.push_back(pattern(layer));
  Recorder recorder(sites);
  evaluate(model, sequence, {recorder});

  const int map = std::clamp(kMapsWidth / static_cast<int>(heads) - kColumnGap, kSmallestMap, kLargestMap);
  const double cell = static_cast<double>(map) / static_cast<double>(length);
  const bool letters = cell >= kLegibleCell && are_letters(signs);
  const bool numbers = cell >= kLegibleCell && !letters;
  const int maps_right = kLeft + static_cast<int>(heads) * (map + kColumnGap) - kColumnGap;
  const int maps_bottom = kTop + static_cast<int>(layers) * (map + kTitle + kSigned);
  Figure figure = start_figure("attention", std::max(maps_right + kScaleWidth, 620),
                               maps_bottom + kBottom + (numbers ? kNumbersTaller : 0),
                               fmt::format("What every head looks at after {} steps, on one sequence", step),
                               run_in_words(config));
  start_maps(figure, length, period);
  show_scale(figure, maps_right + 24, kTop + kTitle, kTop + kTitle + map);
  if (letters || numbers) sign_axes(figure, signs, cell);
  explain(figure, period, letters, config);
  for (const HeadScores& head : scores) {
    const int left = kLeft + static_cast<int>(head.head) * (map + kColumnGap);
    const int top = kTop + static_cast<int>(head.layer) * (map + kTitle + kSigned) + kTitle;
    place(figure, {left, left + map, top, top + map}, "");
    title_map(figure, head, map > kRoomyMap, head_colour(head.layer, head.head, heads));
    name_axes(figure, head.head == 0 ? "query" : "", head.layer + 1 == layers ? "key" : "", numbers);
    const std::string block = fmt::format("$map_{}_{}", head.layer, head.head);
    figure.script.data(block, cells_of(recorder.at(pattern(head.layer)), head.head, length));
    figure.script.line("plot {} using 1:2:($3 < 0 ? NaN : $3) with image pixels", block);
    figure.script.line("unset label\nunset colorbox");
  }
  return figure;
}

}  // namespace tapehead
