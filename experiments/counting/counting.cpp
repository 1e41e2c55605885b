/// Parameters and operations of models by the texts' formulas, beside those that were counted: entries of the
/// models' own listing, and multiplications and additions asked of matrix products, part by part, while a
/// pass ran. And the size of the attention weights. Status 1 where a count is not what the formula says.
///   build/experiments/counting LENGTH FOLDER CONFIG...
/// LENGTH: tokens of the pass through GPT-2's shapes. FOLDER: gets formula.csv, of every CONFIG its
/// parameters and the operations of a training step by formula, and lengths.csv, the operations of a token by
/// context.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "room.h"
#include "tapehead/base/random.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/operation_counter.h"
#include "tapehead/nn/transformer.h"
#include "tapehead/tensor/memory.h"
#include "tapehead/train/config.h"

namespace {

using namespace tapehead;
using namespace tapehead::room;

/// 1,234,567
std::string grouped(Index number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<int>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

enum Part { kProjections, kScores, kMix, kFeedForward, kReadOut, kParts };
constexpr std::array<std::string_view, kParts> kPartNames{
    "attention: 4 projections", "attention: scores", "attention: values mixed", "feed-forward", "read-out"};
constexpr std::array<std::string_view, kParts> kPartFormulas{"8 d^2", "2 t d", "2 t d", "4 d f", "2 d V"};
using Parts = std::array<Index, kParts>;

/// Operations of a token at context t, by formula; of a block's parts, times the blocks.
Parts operations_of(const ModelConfig& config, Index t) {
  const Index d = config.width;
  const Index blocks = config.layers;
  return {blocks * 8 * d * d, blocks * 2 * t * d, blocks * 2 * t * d, blocks * 4 * d * config.feed_forward,
          2 * d * config.vocabulary};
}

Index sum_of(const Parts& parts) {
  Index sum = 0;
  for (const Index part : parts) sum += part;
  return sum;
}

/// Of one attention layer: 4 d^2, and the biases.
Index attention_parameters(const ModelConfig& config) {
  const Index d = config.width;
  return 4 * d * d + (config.qkv_bias ? 3 * d : 0) + (config.bias ? d : 0);
}
Index block_parameters(const ModelConfig& config) {
  const Index d = config.width;
  const Index f = config.feed_forward;
  const Index norm = config.norm == NormKind::layer ? d + (config.bias ? d : 0) : 0;
  return attention_parameters(config) + norm + (f == 0 ? 0 : 2 * d * f + (config.bias ? f + d : 0) + norm);
}
Index all_parameters(const ModelConfig& config) {
  const Index d = config.width;
  const Index tables = (config.tied ? 1 : 2) * config.vocabulary * d +
                       (config.positions == Positions::learned ? config.context * d : 0);
  return tables + config.layers * block_parameters(config) +
         (config.norm == NormKind::layer ? d + (config.bias ? d : 0) : 0);
}

Part part_of(SiteKind kind) {
  switch (kind) {
    case SiteKind::pattern:
      return kScores;
    case SiteKind::head_output:
      return kMix;
    case SiteKind::feed_forward_output:
      return kFeedForward;
    case SiteKind::logits:
      return kReadOut;
    default:
      return kProjections;
  }
}

/// A pass of one sequence of that length through the model, counted.
Parts counted_in(const Transformer& model, Index length) {
  OperationCounter counter;
  Tokens tokens(1, length);
  for (Index t = 0; t < length; ++t) tokens(0, t) = static_cast<std::int32_t>(t % model.config().vocabulary);
  model(Pass().watched_by({counter}), tokens);
  Parts counted{};
  for (const OperationCounter::Count& count : counter.counts())
    counted[part_of(count.site.kind)] += count.operations;
  return counted;
}

/// How many parameters of the model's listing have a name that begins so.
Index listed(const Transformer& model, std::string_view prefix) {
  Index count = 0;
  for (const Parameters::Entry& entry : model.parameters().entries())
    if (entry.name.starts_with(prefix)) count += entry.count();
  return count;
}

/// Compares one model's parts. `model` may have fewer blocks than `config`, which are then taken several
/// times.
void compare(const ModelConfig& config, const Transformer& model, Index length) {
  const Index times = config.layers / model.config().layers;
  const Index attention = listed(model, "blocks.0.attention.");
  const Index block = listed(model, "blocks.0.");
  const Index all = model.parameters().count() + (config.layers - model.config().layers) * block;
  std::cout << fmt::format("  {:<34} {:>13} {:>13}\n", "parameters", "by formula", "counted");
  const auto row = [](std::string_view name, Index formula, Index counted) {
    std::cout << fmt::format("  {:<34} {:>13} {:>13}{}\n", name, grouped(formula), grouped(counted),
                             judged(formula == counted));
  };
  row("one attention layer", attention_parameters(config), attention);
  row("one block", block_parameters(config), block);
  row("all", all_parameters(config), all);
  const Parts formula = operations_of(config, length);
  Parts counted = counted_in(model, length);
  for (std::size_t part = 0; part < kParts; ++part) counted[part] *= part == kReadOut ? 1 : times;
  std::cout << fmt::format("  operations a token, t = {}\n", length);
  for (std::size_t part = 0; part < kParts; ++part)
    if (formula[part] > 0 || counted[part] > 0)
      row(fmt::format("{}, {}", kPartNames[part], kPartFormulas[part]), formula[part],
          counted[part] / length);
  row("all", sum_of(formula), sum_of(counted) / length);
}

/// One of our configs, and its row for formula.csv.
std::string own(const std::string& file) {
  const Config config = read_config(file);
  std::cout << fmt::format("\n{}: {} layers, width {}\n", file, config.model.layers, config.model.width);
  const Index length = config.task.length;
  compare(config.model, Transformer(config.model, 1), length);
  // On the way back a product of matrices has two more: one for each factor's gradient.
  const Index step = 3 * sum_of(operations_of(config.model, length)) * config.train.batch * length;
  return fmt::format("{},{},{}\n", file, all_parameters(config.model), step);
}

struct Gpt2 {
  std::string_view name;
  Index layers, width, heads, parameters;
};
constexpr std::array<Gpt2, 4> kGpt2{{{"GPT-2 small", 12, 768, 12, 124'439'808},
                                     {"GPT-2 medium", 24, 1024, 16, 354'823'168},
                                     {"GPT-2 large", 36, 1280, 20, 774'030'080},
                                     {"GPT-2 XL", 48, 1600, 25, 1'557'611'200}}};

ModelConfig config_of(const Gpt2& shape) {
  ModelConfig config{.vocabulary = 50257, .context = 1024, .width = shape.width, .heads = shape.heads};
  config.layers = shape.layers;
  config.feed_forward = 4 * shape.width;
  config.norm = NormKind::layer;
  config.qkv_bias = config.bias = config.tied = true;
  return config;
}

void gpt2(const Gpt2& shape, Index length) {
  const ModelConfig config = config_of(shape);
  std::cout << fmt::format("\n{}: {} layers, width {}, of which one block is counted, {} times\n", shape.name,
                           shape.layers, shape.width, shape.layers);
  ModelConfig one_block = config;
  one_block.layers = 1;
  compare(config, Transformer::zeros(one_block), length);
  std::cout << fmt::format("  all, as published                  {:>13}{}\n", grouped(shape.parameters),
                           judged(all_parameters(config) == shape.parameters));
}

/// What is counted in one block of GPT-2 small, a row a length up to the longest.
std::string lengths(Index longest) {
  ModelConfig config = config_of(kGpt2.front());
  config.layers = 1;
  config.vocabulary = 1;
  const Transformer model = Transformer::zeros(config);
  std::string rows = "length,projections,scores_and_mix,feed_forward\n";
  for (Index length = std::max<Index>(1, longest / 16); length <= longest;
       length += std::max<Index>(1, longest / 16)) {
    const Parts counted = counted_in(model, length);
    rows += fmt::format("{},{},{},{}\n", length, counted[kProjections] / length,
                        (counted[kScores] + counted[kMix]) / length, counted[kFeedForward] / length);
  }
  return rows;
}

void write(const std::string& file, std::string_view text) {
  std::ofstream out(file);
  out << text;
  require(out.flush().good(), "{}: cannot be written", file);
}

/// The numbers of "Attention, slowly" for one layer of GPT-2 small.
void in_the_text() {
  Parameters parameters;
  const CausalSelfAttention attention(Scope(parameters), {.width = 768, .heads = 12, .context = 1024});
  std::cout << "\"Attention, slowly\": one attention layer, width 768, with biases\n";
  constexpr std::array<Index, 4> kText{1'769'472, 2'304, 589'824, 768};
  for (std::size_t i = 0; i < kText.size(); ++i) {
    const Parameters::Entry& entry = parameters.entries()[i];
    std::cout << fmt::format("  {:<16} in the text {:>10}, counted {:>10}{}\n", entry.name, grouped(kText[i]),
                             grouped(entry.count()), judged(entry.count() == kText[i]));
  }
  std::cout << fmt::format("  {:<16} in the text {:>10}, counted {:>10}{}\n", "all", "2,362,368",
                           grouped(parameters.count()), judged(parameters.count() == 2'362'368));
}

/// The weights' bytes, as the memory in use has grown by them.
void weights(Index length, std::string_view text) {
  const Variable queries(Tensor(Shape{8, length, 768}));
  const Variable keys(Tensor(Shape{8, length, 768}));
  const Index before = memory_use().now;
  const Variable pattern = attention_pattern(queries, keys, 12);
  const Index bytes = memory_use().now - before;
  const Index formula = 8 * 12 * length * length * 4;
  std::cout << fmt::format(
      "  T = {:>5}: {:>11} numbers, in the text {} MB, by formula {:.1f} MB, measured {:.1f} MB{}\n",
      grouped(length), grouped(pattern.shape().count()), text, static_cast<double>(formula) / 1e6,
      static_cast<double>(bytes) / 1e6, judged(bytes == formula));
}

/// Self-attention's mixing of positions against a recurrent layer's: T^2 d over T d^2.
void trade() {
  const auto ratio = [](double length, double width) {
    return length * length * width / (length * width * width);
  };
  std::cout << fmt::format(
      "\n\"Module 6\": T^2 d over T d^2: {:.2f} at T = 50, d = 512 (in the text about 0.1), "
      "{:.0f} at T = 32,768, d = 4,096 (8)\n",
      ratio(50, 512), ratio(32768, 4096));
}

void count_all(Index length, const std::string& folder, const std::vector<std::string>& configs) {
  in_the_text();
  std::cout << "\nattention weights of one layer, batch 8, 12 heads\n";
  weights(256, "25");
  weights(1024, "403");
  trade();
  std::string rows;
  for (const std::string& config : configs) rows += own(config);
  write(folder + "/formula.csv", rows);
  write(folder + "/lengths.csv", lengths(length));
  for (const Gpt2& shape : kGpt2) gpt2(shape, length);
}

}  // namespace

int main(int count, char** words) {
  const Index length = count < 4 ? 0 : std::atoll(words[1]);
  if (length < 1 || length > 1024) {
    std::cerr << "usage: counting LENGTH FOLDER CONFIG...   with a length from 1 to 1,024\n";
    return 2;
  }
  try {
    count_all(length, words[2], {words + 3, words + count});
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
  return failed ? 1 : 0;
}
