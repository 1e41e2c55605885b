/// A trained model, and a random one that has everything, as sums: an attention layer's output is the sum of
/// what its heads write, the residual stream the embedding and all writes, a logit the sum of every part's
/// own; and a head's two circuits have no higher rank than the head is wide. Prints what is left over, and
/// ends with status 1 if that is more than rounding.
///   build/experiments/writes RUN [FILE]     FILE: the singular values of the run's circuits
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/attribution.h"
#include "tapehead/interp/head_weights.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/nn/transformer.h"
#include "tapehead/tasks/task.h"
#include "tapehead/tensor/decomposition.h"
#include "tapehead/train/run_checkpoint.h"

namespace {

using namespace tapehead;

/// Above what sums of some hundred numbers may be off by, as a share of the largest.
constexpr double kRounding = 1e-5;

bool failed = false;

void report(std::string_view what, double residual, double limit = kRounding) {
  const bool good = residual <= limit;  // false for NaN
  failed = failed || !good;
  std::cout << fmt::format("  {:<58} {:>8.1e}{}\n", what, residual, good ? "" : "   MORE THAN ROUNDING");
}

double largest(const Tensor& x) {
  double most = 0;
  for (const Real value : x.values()) most = std::max(most, std::abs(static_cast<double>(value)));
  return most;
}

/// The largest difference, as a share of the largest number.
double left_over(const Variable& whole, const Variable& parts) {
  return largest((whole - parts).value()) / largest(whole.value());
}

/// Every site of the stream, recorded in one pass.
class Reading {
 public:
  Reading(const Transformer& model, const Tokens& tokens) : model_(model), seen_(sites_of(model.config())) {
    model(Pass().watched_by({seen_}), tokens);
  }

  Variable at(const Site& site) const { return Variable(seen_.at(site)); }
  /// What a head adds to the stream, (B, T, C): its output through its own D columns of the projection.
  Variable write_of(Index layer, Index head) const {
    const Index width = head_width();
    const Variable z = slice(at(head_output(layer)), -1, head * width, (head + 1) * width);
    const Variable columns =
        slice(parameter(layer, "attention.output.weight"), 1, head * width, (head + 1) * width);
    return matmul(z, transpose(columns, 0, 1));
  }
  /// The parts of what a layer's attention adds, added up.
  Variable writes_of(Index layer) const {
    Variable total = write_of(layer, 0);
    for (Index head = 1; head < config().heads; ++head) total = total + write_of(layer, head);
    return config().bias ? total + parameter(layer, "attention.output.bias") : total;
  }
  Variable parameter(Index layer, std::string_view name) const {
    return constant(model_.parameters().find(fmt::format("blocks.{}.{}", layer, name)));
  }
  const ModelConfig& config() const { return model_.config(); }
  Index head_width() const { return config().width / config().heads; }

 private:
  const Transformer& model_;
  Recorder seen_;
};

void sums(const Reading& reading) {
  const ModelConfig& config = reading.config();
  Variable stream = reading.at(embedding_site());
  for (Index layer = 0; layer < config.layers; ++layer) {
    const Variable writes = reading.writes_of(layer);
    report(fmt::format("layer {}: attention's output less its heads' writes", layer),
           left_over(reading.at(attention_output(layer)), writes));
    stream = stream + writes;
    if (config.feed_forward > 0) stream = stream + reading.at(feed_forward_output(layer));
  }
  report("last residual less the embedding and all writes",
         left_over(reading.at(residual_after(config.layers - 1)), stream));
}

/// What a head does, from what enters it alone: scores x W_QK xᵀ, writes pattern x W_OV. Of a layer without
/// norm and without biases, where what enters is the stream.
void circuits_do_it(const Reading& reading, const Transformer& model) {
  double scores_off = 0;
  double writes_off = 0;
  for (const HeadWeights& head : all_head_weights(model)) {
    const Variable x = reading.at(residual_before(head.layer));
    const Variable read = matmul(x, Variable(product_transposed(head.query, head.key)));
    const Index begin = head.head * reading.head_width();
    const auto part = [&](const Site& site) {
      return slice(reading.at(site), -1, begin, begin + reading.head_width());
    };
    const Variable scores = matmul(part(queries(head.layer)), transpose(part(keys(head.layer)), 1, 2));
    scores_off = std::max(scores_off, left_over(scores, matmul(read, transpose(x, 1, 2))));
    const Variable pattern_of_head = slice(reading.at(pattern(head.layer)), 1, head.head, head.head + 1);
    const Shape& shape = pattern_of_head.shape();
    const Variable weights = reshape(pattern_of_head, {shape[0], shape[2], shape[3]});
    const Variable moved = matmul(weights, matmul(x, Variable(product(head.value, head.output))));
    writes_off = std::max(writes_off, left_over(reading.write_of(head.layer, head.head), moved));
  }
  report("scores less x W_QK xT, the worst head", scores_off);
  report("writes less pattern x W_OV, the worst head", writes_off);
}

/// All C singular values of a (C, C) matrix, as shares of the largest.
std::vector<double> singular_shares(const Tensor& matrix) {
  Tensor identity(matrix.shape());
  for (Index i = 0; i < matrix.shape()[0]; ++i) identity(i, i) = 1;
  std::vector<double> values = singular_values(matrix, identity);
  const double first = values.front();
  for (double& value : values) value /= first;
  return values;
}

/// Returns the rows of the figure's table.
std::string ranks(const Transformer& model) {
  const auto width = static_cast<std::size_t>(model.config().width / model.config().heads);
  std::string table;
  double beyond = 0;
  double within = 1;
  for (const HeadWeights& head : all_head_weights(model)) {
    const std::pair<std::string_view, Tensor> circuits[]{{"QK", product_transposed(head.query, head.key)},
                                                         {"OV", product(head.value, head.output)}};
    for (const auto& [name, matrix] : circuits) {
      const std::vector<double> values = singular_shares(matrix);
      within = std::min(within, values[width - 1]);
      beyond = std::max(beyond, values[width]);
      for (std::size_t i = 0; i < values.size(); ++i)
        table += fmt::format("{},{}.{},{},{}\n", name, head.layer, head.head, i + 1, values[i]);
    }
  }
  report(fmt::format("QK and OV: singular value {}, of the largest", width + 1), beyond);
  std::cout << fmt::format("  {:<58} {:>8.1e}\n",
                           fmt::format("  (number {}, for comparison: the least)", width), within);
  return table;
}

void logits(const Transformer& model, const Batch& batch) {
  const Attribution attribution = attribute_logits(model, batch);
  report("logits less the sum of their parts, the largest", attribution.largest_error,
         std::numeric_limits<double>::max());
  report("  as a share of the parts' absolute values", attribution.relative_error);
}

/// Returns the rows of the figure's table.
std::string take_apart(std::string_view name, const Transformer& model, const Batch& batch) {
  const ModelConfig& config = model.config();
  std::cout << fmt::format("{}: {} layers of {} heads, width {}, {} sequences of {} tokens\n", name,
                           config.layers, config.heads, config.width, batch.size(), batch.length());
  const Reading reading(model, batch.inputs);
  sums(reading);
  if (config.norm == NormKind::none && !config.qkv_bias) circuits_do_it(reading, model);
  std::string table = ranks(model);
  logits(model, batch);
  std::cout << "\n";
  return table;
}

/// A model that has everything, no bias 0 and no gain 1.
Transformer random_model() {
  ModelConfig config{
      .vocabulary = 40, .context = 32, .width = 48, .heads = 3, .layers = 3, .feed_forward = 96};
  config.norm = NormKind::layer;
  config.qkv_bias = true;
  config.bias = true;
  Transformer model(config, 1);
  Generator generator(2, Purpose::initialisation);
  for (Real& value : model.parameters().change()) value += static_cast<Real>(0.2 * generator.normal());
  return model;
}

void take_both_apart(const std::string& folder, const std::string& file) {
  const RunDirectory run = RunDirectory::open(folder);
  const Checkpoint checkpoint = latest_run_checkpoint(run);
  const ModelConfig& model = checkpoint.config.model;
  require(model.layers > 0 && model.heads > 1 && model.scores == ScoreForm::dot && model.scaled_scores,
          "{}: expected a model with layers, of two heads or more and with plain scores", folder);
  Generator generator(1, Purpose::evaluation);
  const auto task = make_task(checkpoint.config.task, checkpoint.config.model.vocabulary);
  const std::string table = take_apart(fmt::format("trained, step {}", checkpoint.step), checkpoint.model,
                                       task->sample(generator, 16));
  const Transformer random = random_model();
  const auto other = make_task({.length = 32, .period_min = 4, .period_max = 16}, 40);
  take_apart("random, with norms, feed-forward and biases", random, other->sample(generator, 16));
  if (file.empty()) return;
  std::ofstream out(file);
  out << "circuit,head,number,share\n" << table;
  require(out.flush().good(), "{}: cannot be written", file);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2 || count > 3) {
    std::cerr << "usage: writes RUN [FILE]\n";
    return 2;
  }
  try {
    take_both_apart(words[1], count == 3 ? words[2] : "");
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
  return failed ? 1 : 0;
}
