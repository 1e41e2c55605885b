#include "tapehead/report/attention_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tapehead/nn/recorder.h"
#include "tapehead/report/colour_scale.h"
#include "tapehead/report/head_grid.h"
#include "tapehead/report/lettering.h"
#include "tapehead/text/display.h"
#include "tapehead/text/utf8.h"
#include "tapehead/train/evaluate.h"

namespace tapehead {

namespace {

constexpr std::string_view kSigns = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789#$";
// Pixels.
constexpr HeadGridSpacing kSigned{58, 40, 42, 26, 180, 316};    // with tokens on the axes
constexpr HeadGridSpacing kNumbered{78, 56, 42, 44, 180, 316};  // which are words or numbers
constexpr HeadGridSpacing kBare{34, 12, 42, 6, 88, 316};
constexpr int kAxisName = 22;     // under the last maps
constexpr int kRoomyTitle = 130;  // wide enough for the whole name of a score
constexpr double kTitleGap = 5;
constexpr double kLeastAboveChance = 0.1;
constexpr double kLegibleCell = 11;  // smaller cells go without signs on the axes

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

/// The name of the score that says most about what a head looks at, and its value; no words where no score is
/// far above that of an even head.
std::pair<std::string, std::string> best_score(const HeadScores& scores, const ScoreValues& chance) {
  const ScoreDefinition* best = nullptr;
  for (std::size_t i = 0; i < kScores.size(); ++i) {
    const Score score = kScores[i].score;
    if (score != Score::prefix_matching && score != Score::copying &&
        scores[score] >= chance[i] + kLeastAboveChance &&
        (best == nullptr || scores[score] > scores[best->score]))
      best = &kScores[i];
  }
  if (best == nullptr) return {};
  std::string name(best->name);
  std::replace(name.begin(), name.end(), '_', ' ');
  return {std::move(name), fmt::format(" {:.2f}", scores[best->score])};
}

/// Signs of the tokens on both axes, beside cells of this many pixels.
void sign_axes(Figure& figure, const std::vector<std::string>& signs, double cell) {
  std::string tics;
  for (std::size_t t = 0; t < signs.size(); ++t)
    tics += fmt::format("{}{} {}", t == 0 ? "" : ", ", gnuplot_text(signs[t]), t);
  const int font = std::min(static_cast<int>(cell), kSmallText);
  figure.script.line("set xtics ({}) scale 0 font ',{}' {} textcolor rgb '{}'", tics, font,
                     are_letters(signs) ? "offset 0,0.4" : "rotate by 90 right", kInk);
  figure.script.line("set ytics ({}) scale 0 font ',{}' offset 0.6,0 textcolor rgb '{}'", tics, font, kInk);
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

/// Which head, and its highest score, in one line or in two, in as many words as there is room for.
void title_map(Figure& figure, const Panel& panel, const HeadScores& head, const ScoreValues& chance,
               std::string_view colour) {
  std::string name = fmt::format("layer {} head {}", head.layer, head.head);
  const auto [words, value] = best_score(head, chance);
  const int size = panel.width() < kRoomyTitle ? kSmallText : kText;
  const double middle = (panel.left + panel.right) / 2.0;
  const double name_width = text_width(name, size, true);
  const double width = name_width + 2 * kTitleGap + text_width(words + value, size);
  if (width <= panel.width()) {
    const double left = middle - width / 2;
    write(figure, name, left, panel.top - 12, {.colour = colour, .size = size, .is_bold = true});
    write(figure, words + value, left + name_width + 2 * kTitleGap, panel.top - 12,
          {.colour = colour, .size = size});
    return;
  }
  const bool has_room = text_width(words + value, size) <= panel.width() + kTitleGap;
  if (name_width > panel.width()) name = fmt::format("{}.{}", head.layer, head.head);
  write(figure, name, middle, panel.top - 27,
        {.colour = colour, .size = size, .is_bold = true, .align = "center"});
  write(figure, (has_room ? words : words.substr(0, words.find(' '))) + value, middle, panel.top - 11,
        {.colour = colour, .size = size, .align = "center"});
}

/// What holds for all maps.
void start_maps(Figure& figure, Index length, Index period) {
  GnuplotScript& script = figure.script;
  script.line("unset grid\nunset xtics\nunset ytics\nset border 15 linecolor rgb '{}' linewidth 0.6", kGrey);
  script.line("set xrange [-0.5:{0}]\nset yrange [{0}:-0.5]", static_cast<double>(length) - 0.5);
  set_share_palette(figure);
  set_map_ground(figure);
  if (period == 0) return;
  for (Index t = period; t < length; t += period) {
    const double edge = static_cast<double>(t) - 0.5;
    const std::string style = fmt::format("nohead front linecolor rgb '{}' linewidth 0.7 dashtype 3", kGrey);
    script.line("set arrow from first {0}, graph 0 to first {0}, graph 1 {1}", edge, style);
    script.line("set arrow from graph 0, first {0} to graph 1, first {0} {1}", edge, style);
  }
}

/// The first character as it stands on an axis.
std::string visible_character(std::string_view text, bool with_codes) {
  const Utf8Character first = first_character(text);
  const std::string_view bytes = text.substr(0, first.length);
  if (bytes == " ") return "␣";
  if (bytes == "\n") return "↵";
  if (first.kind != Utf8Character::Kind::whole) return "·";
  if (is_shown(first.code_point)) return std::string(bytes);
  return with_codes ? fmt::format("U+{:04X}", static_cast<std::uint32_t>(first.code_point)) : "·";
}

/// A token's text with what cannot be seen in it made visible, cut to so many characters.
std::string visible(std::string_view bytes, std::size_t most, bool with_codes) {
  std::vector<std::string> signs;
  for (; !bytes.empty(); bytes.remove_prefix(first_character(bytes).length))
    signs.push_back(visible_character(bytes, with_codes));
  if (signs.size() <= most) return fmt::format("{}", fmt::join(signs, ""));
  signs.resize(most - 1);
  return fmt::format("{}…", fmt::join(signs, ""));
}

std::vector<ColouredWords> remarks_of(std::string_view where, Index period, bool letters, bool in_short) {
  std::string first(where);
  if (letters) first += "; letters, digits and signs: tokens";
  std::string second = "dark: looks there; grey: later than the query, out of sight";
  if (period > 0) second += fmt::format("; dotted: the segment of {} tokens repeats", period);
  std::string third = fmt::format(
      "numbers: the highest score that is at least {} above an even head's, over the whole evaluation batch",
      kLeastAboveChance);
  if (in_short) third += "; previous, current, first, duplicate: token";
  return {{first}, {second}, {third}};
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

Index number_to_show(const Batch& batch) {
  require(batch.size() > 0, "[figures] expected a sequence to show, got an empty batch");
  for (Index b = 0; b < batch.size(); ++b)
    if (shows_well(batch, b)) return b;
  return most_repeating(batch, std::min(batch.length(), kMapLength));
}

Batch sequence_to_show(const Batch& batch) {
  return batch.rows(number_to_show(batch), 1).shortened(std::min(batch.length(), kMapLength));
}

std::vector<std::string> token_signs(const Tokens& tokens, Index vocabulary, const Tokenizer* tokenizer,
                                     std::size_t most, bool with_codes) {
  std::vector<std::string> signs;
  for (const std::int32_t token : tokens.values())
    if (tokenizer != nullptr)
      signs.push_back(token < tokenizer->size() ? visible(tokenizer->bytes_of(token), most, with_codes)
                                                : fmt::format("#{}", token));
    else if (vocabulary <= static_cast<Index>(kSigns.size()))
      signs.emplace_back(1, kSigns.at(static_cast<std::size_t>(token)));
    else
      signs.push_back(std::to_string(token));
  return signs;
}

namespace {

/// How the maps of a figure stand, and what is written on their axes.
struct MapLayout {
  HeadGrid grid;
  bool has_scale_beside;
  bool letters;
  bool numbers;
};

MapLayout layout_of(const ModelConfig& model, const std::vector<std::string>& signs, int width) {
  const bool letters = are_letters(signs);
  const HeadGridSpacing& roomy = letters ? kSigned : kNumbered;
  for (const bool beside : {true, false}) {
    const HeadGrid grid(model, width - (beside ? kScaleWidth : 0), roomy);
    const bool fills = grid.side() == roomy.largest;
    const bool legible = grid.side() >= kLegibleCell * static_cast<double>(signs.size());
    if (legible && grid.rows_a_layer() == 1 && (fills || !beside)) return {grid, beside, letters, !letters};
  }
  return {HeadGrid(model, width, kBare), false, false, false};
}

void draw_map(Figure& figure, const MapLayout& layout, const Tensor& pattern, const HeadScores& head,
              const ScoreValues& chance, Index length, Index heads) {
  const Panel panel = layout.grid.panel(head.layer, head.head);
  place(figure, panel, "");
  title_map(figure, panel, head, chance, head_colour(head.layer, head.head, heads));
  const bool signs = layout.letters || layout.numbers;
  if (layout.grid.is_first_in_row(head.head))
    write(figure, "query",
          panel.left - (layout.numbers ? 54
                        : signs        ? 34
                                       : 14),
          (panel.top + panel.bottom) / 2.0, {.align = "center", .is_upright = true});
  if (layout.grid.is_last_row(head.layer, head.head))
    write(figure, "key", (panel.left + panel.right) / 2.0,
          panel.bottom + (layout.numbers ? 52
                          : signs        ? 31
                                         : 14),
          {.align = "center"});
  const std::string block = fmt::format("$map_{}_{}", head.layer, head.head);
  figure.script.data(block, cells_of(pattern, head.head, length));
  plot(figure, fmt::format("{} using 1:2:($3 < 0 ? NaN : $3) with image pixels", block));
  figure.script.line("unset colorbox");
}

}  // namespace

Figure attention_figure(const Transformer& model, const ShownSequence& shown,
                        const std::vector<HeadScores>& scores, const ScoreValues& chance,
                        const Config& config, Index step, const FigureSize& size) {
  const auto& [sequence, signs, where] = shown;
  const Index length = sequence.length();
  const Index period = period_of(sequence, 0);
  std::vector<Site> sites;
  for (Index layer = 0; layer < config.model.layers; ++layer) sites.push_back(pattern(layer));
  Recorder recorder(sites);
  evaluate(model, sequence, {recorder});

  MapLayout layout = layout_of(config.model, signs, size.width);
  Sheet sheet =
      start_sheet("attention", size,
                  {.title = fmt::format("What every head looks at after {} steps, on one sequence", step),
                   .subtitle = run_in_words(config),
                   .remarks = remarks_of(where, period, layout.letters, layout.grid.side() < kRoomyTitle)},
                  layout.grid.heights(kAxisName + (layout.has_scale_beside ? 0 : kScaleHeight)));
  Figure& figure = sheet.figure;
  layout.grid.fit(sheet);
  start_maps(figure, length, period);
  const Panel first = layout.grid.panel(0, 0);
  if (layout.has_scale_beside)
    show_scale_beside(figure, "attention weight", layout.grid.panel(0, config.model.heads - 1).right + 20,
                      first.top, first.bottom, 0.25);
  else
    show_scale_below(figure, "attention weight", kEdge, layout.grid.bottom() + kAxisName + 6, 0.25);
  const double cell = first.width() / static_cast<double>(length);
  if (layout.letters || layout.numbers) sign_axes(figure, signs, cell);
  for (const HeadScores& head : scores)
    draw_map(figure, layout, recorder.at(pattern(head.layer)), head, chance, length, config.model.heads);
  return std::move(sheet.figure);
}

}  // namespace tapehead
