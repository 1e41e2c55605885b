/// What a recurrent layer costs beside attention, and how well it copies:
///
///     recurrence costs T...                    operations and times of both, at widths 256 and 512
///     recurrence copies CONFIG STEPS WIDTH RATE  trains two recurrent layers on the config's task, in CSV
///
/// Operations are counted in matrix products, and compared with the formulas: a difference ends it with
/// status 1. Times are those of one thread, forward, the least of several.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "room.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/recurrence.h"
#include "tapehead/nn/attention.h"
#include "tapehead/nn/embedding.h"
#include "tapehead/nn/recurrent.h"
#include "tapehead/tensor/gemm.h"
#include "tapehead/train/config.h"
#include "tapehead/train/optimizer.h"
#include "tapehead/train/trainer.h"

using namespace tapehead;

namespace {

constexpr Index kHeadWidth = 64;

Tensor normals(const Shape& shape, double deviation) {
  Generator generator(1);
  return room::normals(shape, generator, deviation);
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// What a call takes, in milliseconds of this thread: the least of at least three, and of a tenth of a
/// second.
double milliseconds(const std::function<void()>& call) {
  double least = std::numeric_limits<double>::infinity();
  const double start = cpu_seconds();
  for (int i = 0; i < 4 || cpu_seconds() - start < 0.1; ++i) {
    const double before = cpu_seconds();
    for (int repeat = 0; repeat < (least < 1e-3 ? 10 : 1); ++repeat) call();
    const double took = (cpu_seconds() - before) / (least < 1e-3 ? 10 : 1);
    if (i > 0) least = std::min(least, took);  // the first one fetches memory
  }
  return 1e3 * least;
}

Index operations_of(const std::function<void()>& call) {
  const Index before = gemm_operations();
  call();
  return gemm_operations() - before;
}

void require_equal(const char* what, Index counted, Index formula) {
  if (counted != formula)
    throw std::runtime_error(
        fmt::format("{}: counted {} operations, the formula says {}", what, counted, formula));
}

/// One width and length, forward: what mixes positions alone, and whole layers with their projections.
class Costs {
 public:
  Costs(Index width, Index length)
      : width_(width),
        length_(length),
        one_(normals({1, length, width}, 1)),
        many_(normals({kMany, length, width}, 1)),
        weight_(normals({width, width}, 1 / std::sqrt(static_cast<double>(width)))),
        recurrent_(Scope(parameters_, "recurrent"), width, width),
        attention_(Scope(parameters_, "attention"), {.width = width,
                                                     .heads = width / kHeadWidth,
                                                     .context = length,
                                                     .qkv_bias = false,
                                                     .bias = false}) {
    parameters_.initialise(1);
  }

  /// Throws where the counts are not the formulas'.
  void check_operations() const {
    const Index t = length_;
    const Index d = width_;
    require_equal("recurrence", operations_of([&] { recur(one_); }), 2 * (t - 1) * d * d);
    require_equal("attention", operations_of([&] { attend(); }), 2 * 2 * t * t * d);
    require_equal("recurrent layer", operations_of([&] { recurrent_(Pass(), one_); }),
                  2 * t * d * d + 2 * (t - 1) * d * d);
    Pass pass;
    require_equal("attention layer", operations_of([&] { attention_(pass, one_); }),
                  2 * 4 * t * d * d + 2 * 2 * t * t * d);
  }

  std::string row() const {
    const double recurrence = milliseconds([&] { recur(one_); });
    const double of_many = milliseconds([&] { recur(many_); }) / kMany;
    const double attention = milliseconds([&] { attend(); });
    const double recurrent_layer = milliseconds([&] { recurrent_(Pass(), one_); });
    const double attention_layer = milliseconds([&] {
      Pass pass;
      attention_(pass, one_);
    });
    return fmt::format("{:5} {:6} {:8.3f} {:12.3f} {:12.3f} {:12.3f} {:8.3f} {:12.3f} {:12.3f} {:8.3f}",
                       width_, length_, static_cast<double>(length_) / static_cast<double>(width_),
                       recurrence, of_many, attention, attention / recurrence, recurrent_layer,
                       attention_layer, attention_layer / recurrent_layer);
  }

  static constexpr Index kMany = 8;

 private:
  void recur(const Variable& x) const { recurrence(x, weight_); }
  void attend() const { attention_mix(attention_pattern(one_, one_, width_ / kHeadWidth), one_); }

  Index width_;
  Index length_;
  Variable one_;
  Variable many_;
  Variable weight_;
  Parameters parameters_;
  Recurrent recurrent_;
  CausalSelfAttention attention_;
};

void print_costs(const std::vector<Index>& lengths) {
  fmt::print("# operations that mix positions, attention to recurrence: T² d to T d², which is T / d\n");
  for (const auto& [length, width] : {std::pair<Index, Index>{50, 512}, {32'768, 4'096}})
    fmt::print("# T = {}, d = {}: {:.3g}\n", length, width,
               static_cast<double>(length) / static_cast<double>(width));
  fmt::print("#\n# milliseconds a sequence; 'of {}': each of so many sequences side by side\n", Costs::kMany);
  fmt::print("# {:>3} {:>6} {:>8} {:>12} {:>12} {:>12} {:>8} {:>12} {:>12} {:>8}\n", "d", "T", "T/d",
             "recurrence", fmt::format("of {}", Costs::kMany), "attention", "ratio", "rec. layer",
             "att. layer", "ratio");
  for (const Index width : {256, 512}) {
    for (const Index length : lengths) {
      const Costs costs(width, length);
      costs.check_operations();
      fmt::print("{}\n", costs.row());
      std::fflush(stdout);
    }
    fmt::print("\n\n");
  }
}

/// Embedding, two recurrent layers, unembedding.
class RecurrentModel {
 public:
  RecurrentModel(Index vocabulary, Index width, std::uint64_t seed)
      : embedding_(Scope(parameters_, "embedding"), vocabulary, width,
                   1 / std::sqrt(static_cast<double>(width))),
        first_(Scope(parameters_, "layers.0"), width, width),
        second_(Scope(parameters_, "layers.1"), width, width),
        unembedding_(Scope(parameters_, "unembedding"), width, vocabulary, false) {
    parameters_.initialise(seed);
  }

  Variable logits(const Pass& pass, const Tokens& inputs) const {
    return unembedding_(pass, second_(pass, first_(pass, embedding_(pass, inputs))));
  }
  Parameters& parameters() { return parameters_; }

 private:
  Parameters parameters_;
  Embedding embedding_;
  Recurrent first_;
  Recurrent second_;
  Linear unembedding_;
};

/// The mean loss on the positions of one kind, in nats.
double loss_of(const Variable& logits, const Batch& batch, Kind kind) {
  Tensor weights({batch.size(), batch.length()});
  for (Index b = 0; b < batch.size(); ++b)
    for (Index t = 0; t < batch.length(); ++t) weights(b, t) = batch.kinds(b, t) == kind ? 1 : 0;
  return static_cast<double>(cross_entropy(logits, batch.targets, {.weights = weights}).item());
}

double accuracy_of(const Variable& logits, const Batch& batch) {
  const Index vocabulary = logits.shape()[2];
  Index hits = 0;
  Index all = 0;
  for (Index b = 0; b < batch.size(); ++b)
    for (Index t = 0; t < batch.length(); ++t) {
      if (batch.kinds(b, t) != Kind::induction) continue;
      const Real* row = logits.data() + (b * batch.length() + t) * vocabulary;
      hits += std::max_element(row, row + vocabulary) - row == batch.targets(b, t) ? 1 : 0;
      ++all;
    }
  return static_cast<double>(hits) / static_cast<double>(all);
}

void train(const Config& config, Index steps, Index width, double rate) {
  const auto task = make_task(config.task, config.model.vocabulary);
  const Batch evaluation = evaluation_batch(config, *task);
  RecurrentModel model(config.model.vocabulary, width, config.train.initialisation_seed);
  AdamW optimizer({.learning_rate = rate,
                   .beta1 = config.train.betas[0],
                   .beta2 = config.train.betas[1],
                   .epsilon = config.train.epsilon,
                   .weight_decay = config.train.weight_decay});
  fmt::print("# width {}, {} parameters, learning rate {}\n", width, model.parameters().count(), rate);
  fmt::print("step,loss_induction,loss_noise,accuracy_induction\n");
  for (Index step = 0;; ++step) {
    if (step % 20 == 0 || step == steps) {
      const Variable logits = model.logits(Pass(), evaluation.inputs);
      fmt::print("{},{:.6g},{:.6g},{:.6g}\n", step, loss_of(logits, evaluation, Kind::induction),
                 loss_of(logits, evaluation, Kind::noise), accuracy_of(logits, evaluation));
      std::fflush(stdout);
    }
    if (step == steps) return;
    // The batches of `tapehead train`, and its update.
    Generator data(config.train.data_seed, Purpose::data, step);
    const Batch batch = task->sample(data, config.train.batch);
    Tape tape;
    Gradients gradients = tape.backward(cross_entropy(model.logits(Pass(tape), batch.inputs), batch.targets));
    clip_norm(gradients, config.train.clip);
    optimizer.step(model.parameters(), gradients);
  }
}

template <class Number>
Number number(const std::string& word) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !(value > 0) || value > 1'000'000)
    throw std::invalid_argument(fmt::format("expected a number above 0, got '{}'", word));
  return value;
}

int run(const std::vector<std::string>& words) {
  if (words.size() >= 2 && words[0] == "costs") {
    std::vector<Index> lengths;
    for (std::size_t i = 1; i < words.size(); ++i) lengths.push_back(number<Index>(words[i]));
    print_costs(lengths);
    return 0;
  }
  if (words.size() == 5 && words[0] == "copies") {
    train(read_config(words[1]), number<Index>(words[2]), number<Index>(words[3]), number<double>(words[4]));
    return 0;
  }
  fmt::print(stderr, "usage: recurrence costs T...\n       recurrence copies CONFIG STEPS WIDTH RATE\n");
  return 2;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run({words + 1, words + count});
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
