// How fast the kernels are, one thread each: build/tests/tapehead_benchmarks --benchmark_filter=gemm
//
// Nothing here is run by the tests. `operations` is the rate of multiplications and additions, by the
// kernel's formula; `bytes` that of what it has to read and write.

#include <benchmark/benchmark.h>

#include <fmt/core.h>
#include <cmath>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/tape.h"
#include "tapehead/base/parallel.h"
#include "tapehead/kernels/attention.h"
#include "tapehead/kernels/cross_entropy.h"
#include "tapehead/kernels/layer_norm.h"
#include "tapehead/kernels/softmax.h"
#include "tapehead/kernels/tiled_attention.h"
#include "tapehead/tensor/blas_gemm.h"
#include "tapehead/text/tokenizer.h"
#include "tapehead/train/optimizer.h"

namespace tapehead {

namespace {

Tensor random_tensor(const Shape& shape, std::uint64_t seed = 1) {
  Generator generator(seed);
  Tensor tensor(shape);
  for (Real& value : tensor.values()) value = static_cast<Real>(generator.uniform() - 0.5);
  return tensor;
}

void count_operations(benchmark::State& state, double operations) {
  state.counters["operations"] =
      benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
}

void count_bytes(benchmark::State& state, Index numbers) {
  state.counters["bytes"] = benchmark::Counter(static_cast<double>(numbers) * sizeof(Real),
                                               benchmark::Counter::kIsIterationInvariantRate);
}

/// C (m, n) = A (m, k) B (k, n), where A and B lie as stored or transposed.
struct Product {
  const char* name;
  Index m;
  Index n;
  Index k;
  bool a_transposed;
  bool b_transposed;
};

constexpr std::array kProducts{
    Product{"width 64, forward", 256, 64, 64, false, true},
    Product{"width 64, input's gradient", 256, 64, 64, false, false},
    Product{"width 64, weight's gradient", 64, 64, 256, true, false},
    Product{"width 128 to 512, forward", 512, 512, 128, false, true},
    Product{"width 768, forward", 256, 768, 768, false, true},
    Product{"width 3072 to 768, forward", 256, 768, 3072, false, true},
    Product{"width 768 to 3072, input's gradient", 256, 768, 3072, false, false},
    Product{"width 768 to 3072, weight's gradient", 3072, 768, 256, true, false},
    Product{"scores of a head of 16", 64, 64, 16, false, true},
    Product{"output of a head of 16", 64, 16, 64, false, false},
    Product{"scores of a head of 64", 256, 256, 64, false, true},
    Product{"square", 1024, 1024, 1024, false, false},
};

using Gemm = void (*)(Real*, const Matrix&, const Matrix&, const Product&);

void ours(Real* c, const Matrix& a, const Matrix& b, const Product& p) {
  gemm(c, p.n, a, b, p.m, p.n, p.k, 1, 0);
}
void blas(Real* c, const Matrix& a, const Matrix& b, const Product& p) {
  blas_gemm(c, p.n, a, b, p.m, p.n, p.k, 1, 0);
}

void product(benchmark::State& state, const Product& p, Gemm multiply) {
  const Tensor a = random_tensor({p.m, p.k});
  const Tensor b = random_tensor({p.k, p.n});
  Tensor c({p.m, p.n});
  for (auto _ : state) {
    multiply(c.data(), {a.data(), p.a_transposed ? p.m : p.k, p.a_transposed},
             {b.data(), p.b_transposed ? p.k : p.n, p.b_transposed}, p);
    benchmark::DoNotOptimize(c.data());
  }
  count_operations(state, static_cast<double>(2 * p.m * p.n * p.k));
}

/// Causal attention of some sequences between queries, keys, values and head outputs, and the way back.
struct AttentionArrays {
  AttentionArrays(kernels::AttentionSizes s, Index batch)
      : sizes(s), count(s.length * s.heads * s.head_width), shape{batch, count} {}

  kernels::AttentionSizes sizes;  // of one sequence
  Index count;                    // of its numbers
  Shape shape;
  Tensor q = random_tensor(shape, 1), k = random_tensor(shape, 2), v = random_tensor(shape, 3);
  Tensor dz = random_tensor(shape, 4);
  Tensor z{shape}, dq{shape}, dk{shape}, dv{shape};
  Real scale = 1 / std::sqrt(static_cast<Real>(sizes.head_width));
};

using Attention = void (*)(AttentionArrays&, Index at);
void attention_with_pattern(AttentionArrays& a, Index at) {
  Tensor pattern = Tensor::uninitialised({a.sizes.heads, a.sizes.length, a.sizes.length});
  Tensor dpattern = Tensor::uninitialised(pattern.shape());
  kernels::attention_pattern_forward(pattern.data(), a.q.data() + at, a.k.data() + at, {a.scale}, {},
                                     a.sizes);
  const std::vector<bool> causal = kernels::causal_heads(pattern.data(), a.sizes);
  kernels::attention_mix_forward(a.z.data() + at, pattern.data(), a.v.data() + at, causal, a.sizes);
  kernels::attention_mix_backward({dpattern.data(), 0}, {a.dv.data() + at, 0}, a.dz.data() + at,
                                  pattern.data(), a.v.data() + at, causal, a.sizes);
  kernels::attention_pattern_backward({a.dq.data() + at, 0}, {a.dk.data() + at, 0}, dpattern.data(),
                                      pattern.data(), a.q.data() + at, a.k.data() + at, a.scale, true,
                                      a.sizes);
}

void attention_in_tiles(AttentionArrays& a, Index at) {
  Tensor largest = Tensor::uninitialised({a.sizes.heads, a.sizes.length});
  Tensor factors = Tensor::uninitialised(largest.shape());
  kernels::tiled_attention_forward(a.z.data() + at, largest.data(), factors.data(), a.q.data() + at,
                                   a.k.data() + at, a.v.data() + at, {a.scale}, {}, a.sizes);
  kernels::tiled_attention_backward({a.dq.data() + at, 0}, {a.dk.data() + at, 0}, {a.dv.data() + at, 0},
                                    a.dz.data() + at, a.z.data() + at, largest.data(), factors.data(),
                                    a.q.data() + at, a.k.data() + at, a.v.data() + at, {a.scale}, {},
                                    a.sizes);
}

/// The sequences, of heads of 64, are shared out over threads.
void attention(benchmark::State& state, Index batch, Index heads, Attention attend) {
  AttentionArrays arrays({1, state.range(0), heads, 64}, batch);
  const int threads = static_cast<int>(state.range(1));
  for (auto _ : state) parallel_for(batch, threads, [&](Index b) { attend(arrays, b * arrays.count); });
  count_operations(state, 6 * 2 * static_cast<double>(batch * arrays.count * arrays.sizes.length));
}

void softmax(benchmark::State& state) {
  const Index width = state.range(0);
  const Index rows = (Index{1} << 21) / width;
  const Tensor scores = random_tensor({rows, width});
  Tensor weights({rows, width});
  for (auto _ : state) {
    for (Index i = 0; i < rows; ++i)
      kernels::softmax_row(weights.data() + i * width, scores.data() + i * width, width);
    benchmark::DoNotOptimize(weights.data());
  }
  count_bytes(state, 2 * rows * width);
}

void layer_norm_forward_and_backward(benchmark::State& state) {
  const Index width = state.range(0);
  const Index rows = 4096;
  const Tensor x = random_tensor({rows, width});
  const Tensor dy = random_tensor({rows, width}, 2);
  const Tensor gain = random_tensor({width}, 3);
  Tensor y({rows, width});
  Tensor dx({rows, width});
  Tensor dgain({width});
  Tensor mean({rows});
  Tensor scale({rows});
  for (auto _ : state) {
    kernels::layer_norm_forward(y.data(), mean.data(), scale.data(), x.data(), gain.data(), nullptr,
                                static_cast<Real>(1e-5), rows, width);
    kernels::layer_norm_backward({dx.data(), 0}, dgain.data(), nullptr, dy.data(), x.data(), gain.data(),
                                 mean.data(), scale.data(), rows, width);
    benchmark::DoNotOptimize(dx.data());
  }
  count_bytes(state, 5 * rows * width);
}

void gelu_forward_and_backward(benchmark::State& state) {
  const GeluForm form = state.range(0) == 0 ? GeluForm::tanh : GeluForm::erf;
  const Index count = Index{1} << 18;
  const Tensor x = random_tensor({count});
  Tensor y({count});
  for (auto _ : state) {
    kernels::gelu_forward(y.data(), x.data(), form, count);
    kernels::gelu_backward({y.data(), 0}, x.data(), x.data(), form, count);
    benchmark::DoNotOptimize(y.data());
  }
  count_bytes(state, 5 * count);
}

void cross_entropy_forward_and_backward(benchmark::State& state) {
  const Index vocabulary = state.range(0);
  const Index rows = 256;
  const Tensor logits = random_tensor({rows, vocabulary});
  const std::vector<std::int32_t> targets(static_cast<std::size_t>(rows), 0);
  const Tensor upstream({rows}, std::vector<Real>(static_cast<std::size_t>(rows), 1));
  Tensor losses({rows});
  Tensor dlogits({rows, vocabulary});
  for (auto _ : state) {
    kernels::cross_entropy_forward(losses.data(), logits.data(), targets.data(), rows, vocabulary);
    kernels::cross_entropy_backward({dlogits.data(), 0}, upstream.data(), logits.data(), targets.data(), rows,
                                    vocabulary);
    benchmark::DoNotOptimize(dlogits.data());
  }
  count_bytes(state, 3 * rows * vocabulary);
}

void dropout_forward(benchmark::State& state) {
  const Variable x(random_tensor({state.range(0)}));
  Generator generator(1);
  for (auto _ : state) benchmark::DoNotOptimize(dropout(x, 0.1, generator));
  count_bytes(state, 2 * x.shape().count());
}

void adamw_step(benchmark::State& state) {
  Parameters parameters;
  parameters.add("weight", {state.range(0), 1024}, Start::normal(1));
  parameters.initialise(1);
  const Gradients gradients = random_tensor({parameters.count()});
  AdamW optimizer({.weight_decay = 0.01});
  for (auto _ : state) optimizer.step(parameters, gradients);
  count_bytes(state, 7 * parameters.count());
}

/// A chain of ops on single numbers, as micrograd's: what the tape itself costs. `operations` counts ops.
void scalar_tape(benchmark::State& state) {
  const Index ops = state.range(0);
  for (auto _ : state) {
    Tape tape;
    const Variable x = tape.variable(Tensor({}, {Real(0.5)}));
    const Variable w = tape.variable(Tensor({}, {1}));
    Variable y = x;
    while (static_cast<Index>(tape.size()) + 3 <= ops) y = tanh(y * w + x);
    tape.backward(y);
    benchmark::DoNotOptimize(x.gradient());
  }
  count_operations(state, static_cast<double>(ops / 3 * 3));
}

/// GPT-2's byte-pair encoding of Shakespeare, with the files that TAPEHEAD_REFERENCE_DATA names.
void byte_pair_encoding(benchmark::State& state) {
  const char* reference = std::getenv("TAPEHEAD_REFERENCE_DATA");
  if (reference == nullptr) {
    state.SkipWithError("TAPEHEAD_REFERENCE_DATA is not set");
    return;
  }
  const std::filesystem::path folder = reference;
  const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(folder / "gpt2-tokenizer");
  std::ifstream file(folder / "text" / "tinyshakespeare.txt", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (auto _ : state) benchmark::DoNotOptimize(tokenizer->encode(text));
  state.SetBytesProcessed(state.iterations() * static_cast<Index>(text.size()));
}

void register_all() {
  for (const Product& p : kProducts)
    for (const auto& [name, multiply] : {std::pair{"ours", &ours}, std::pair{"blas", &blas}})
      benchmark::RegisterBenchmark(fmt::format("gemm/{}/{}", p.name, name).c_str(), product, p, multiply)
          ->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("attention", attention, 4, 12, &attention_with_pattern)
      ->ArgNames({"length", "threads"})
      ->ArgsProduct({{64, 512, 1024}, {1, 2}})
      ->Unit(benchmark::kMillisecond);
  for (const auto& [name, attend] : {std::pair{"attention/pattern", &attention_with_pattern},
                                     std::pair{"attention/tiled", &attention_in_tiles}})
    benchmark::RegisterBenchmark(name, attention, 1, 4, attend)
        ->ArgNames({"length", "threads"})
        ->ArgsProduct({{256, 1024, 4096}, {1}})
        ->Unit(benchmark::kMillisecond);
  const auto add = [](const char* name, void (*run)(benchmark::State&), const char* argument,
                      const std::vector<std::int64_t>& values) {
    benchmark::RegisterBenchmark(name, run)->ArgName(argument)->ArgsProduct({values})->Unit(
        benchmark::kMicrosecond);
  };
  add("softmax", softmax, "width", {48, 64, 1024});
  add("layer_norm", layer_norm_forward_and_backward, "width", {64, 768});
  add("gelu", gelu_forward_and_backward, "form", {0, 1});
  add("cross_entropy", cross_entropy_forward_and_backward, "vocabulary", {64, 50257});
  add("dropout", dropout_forward, "count", {1 << 18});
  add("adamw", adamw_step, "rows", {43, 6000});
  add("scalar_tape", scalar_tape, "ops", {10000});
  benchmark::RegisterBenchmark("byte_pair_encoding", byte_pair_encoding)->Unit(benchmark::kMillisecond);
}

}  // namespace

}  // namespace tapehead

int main(int argc, char** argv) {
  tapehead::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
