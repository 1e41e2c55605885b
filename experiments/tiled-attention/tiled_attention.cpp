/// Attention forward and backward on one thread, in tiles or with its pattern held: how long it takes, and
/// what memory beside its inputs, outputs and their gradients. One sequence, 4 heads of 64, causal.
///   build/experiments/tiled_attention tiled|pattern LENGTH SECONDS
/// prints LENGTH, milliseconds forward, backward (CPU time, medians), bytes of arrays at the peak, and by how
/// many bytes the process grew. Nothing where the arrays would take more than a quarter of the machine's
/// memory.
///   build/experiments/tiled_attention check LENGTH
/// compares the two, and ends with status 1 where they differ by more than rounding.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/base/random.h"
#include "tapehead/kernels/tiled_attention.h"
#include "tapehead/tensor/memory.h"
#include "tapehead/tensor/tensor.h"

namespace {

using namespace tapehead;

constexpr Index kHeads = 4;
constexpr Index kHeadWidth = 64;

Tensor random_tensor(const Shape& shape, std::uint64_t seed) {
  Generator generator(seed);
  Tensor tensor(shape);
  for (Real& value : tensor.values()) value = static_cast<Real>(generator.normal());
  return tensor;
}

/// Everything that goes in and comes out, (T, H*D) each.
struct Arrays {
  explicit Arrays(Index length)
      : sizes{1, length, kHeads, kHeadWidth},
        q(random_tensor({length, kHeads * kHeadWidth}, 1)),
        k(random_tensor(q.shape(), 2)),
        v(random_tensor(q.shape(), 3)),
        dz(random_tensor(q.shape(), 4)) {
    for (Tensor* result : results())
      std::fill_n(result->data(), result->count(), Real{1});  // touches its pages
  }

  std::vector<Tensor*> results() { return {&z, &dq, &dk, &dv}; }

  kernels::AttentionSizes sizes;
  kernels::Scoring scoring{1 / std::sqrt(static_cast<Real>(kHeadWidth))};
  Tensor q, k, v, dz;
  Tensor z{q.shape()}, dq{q.shape()}, dk{q.shape()}, dv{q.shape()};
};

double cpu_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

struct Times {
  double forward;
  double backward;
};

/// With `between` called after the way there.
using Attention = std::function<void(Arrays&, const std::function<void()>& between)>;

void tiled(Arrays& a, const std::function<void()>& between) {
  Tensor largest = Tensor::uninitialised({kHeads, a.sizes.length});
  Tensor factors = Tensor::uninitialised(largest.shape());
  kernels::tiled_attention_forward(a.z.data(), largest.data(), factors.data(), a.q.data(), a.k.data(),
                                   a.v.data(), a.scoring, {}, a.sizes);
  between();
  kernels::tiled_attention_backward({a.dq.data(), 0}, {a.dk.data(), 0}, {a.dv.data(), 0}, a.dz.data(),
                                    a.z.data(), largest.data(), factors.data(), a.q.data(), a.k.data(),
                                    a.v.data(), a.scoring, {}, a.sizes);
}

void with_pattern(Arrays& a, const std::function<void()>& between) {
  Tensor pattern = Tensor::uninitialised({kHeads, a.sizes.length, a.sizes.length});
  kernels::attention_pattern_forward(pattern.data(), a.q.data(), a.k.data(), a.scoring, {}, a.sizes);
  const std::vector<bool> causal = kernels::causal_heads(pattern.data(), a.sizes);
  kernels::attention_mix_forward(a.z.data(), pattern.data(), a.v.data(), causal, a.sizes);
  between();
  Tensor dpattern = Tensor::uninitialised(pattern.shape());
  kernels::attention_mix_backward({dpattern.data(), 0}, {a.dv.data(), 0}, a.dz.data(), pattern.data(),
                                  a.v.data(), causal, a.sizes);
  kernels::attention_pattern_backward({a.dq.data(), 0}, {a.dk.data(), 0}, dpattern.data(), pattern.data(),
                                      a.q.data(), a.k.data(), a.scoring.scale, true, a.sizes);
}

Times time_of(const Attention& attention, Arrays& arrays) {
  const double start = cpu_milliseconds();
  double middle = start;
  attention(arrays, [&] { middle = cpu_milliseconds(); });
  return {middle - start, cpu_milliseconds() - middle};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The largest the process has been, in bytes.
Index largest_resident() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<Index>(usage.ru_maxrss) * 1024;
}

void measure(const std::string& kind, Index length, double seconds) {
  const bool is_tiled = kind == "tiled";
  const double table = static_cast<double>(length) * static_cast<double>(length) * sizeof(Real);
  if (!is_tiled && (2 * kHeads + 1) * table > physical_memory() / 4) return;
  const Attention attention = is_tiled ? Attention(tiled) : Attention(with_pattern);
  Arrays arrays(length);
  const Index resident = largest_resident();
  reset_peak_memory();
  const Index before = memory_use().now;
  time_of(attention, arrays);  // the first one finds its memory
  const Index beside = memory_use().peak - before;
  const Index grown = largest_resident() - resident;
  std::vector<double> forward, backward;
  const double start = cpu_milliseconds();
  do {
    const Times times = time_of(attention, arrays);
    forward.push_back(times.forward);
    backward.push_back(times.backward);
  } while (cpu_milliseconds() - start < 1e3 * seconds);
  fmt::print("{} {:.3f} {:.3f} {} {}\n", length, median(forward), median(backward), beside, grown);
}

/// The largest difference between two results, to the largest number in one of them.
double difference(const Tensor& a, const Tensor& b) {
  double most = 0, largest = 0;
  for (Index i = 0; i < a.count(); ++i) {
    const auto x = static_cast<double>(a.data()[i]);
    const double apart = std::abs(x - static_cast<double>(b.data()[i]));
    if (!(apart <= most)) most = apart;
    largest = std::max(largest, std::abs(x));
  }
  return most / largest;
}

int check(Index length) {
  constexpr double kRounding = 1e-5;
  Arrays one(length), other(length);
  tiled(one, [] {});
  with_pattern(other, [] {});
  const std::vector<std::string> names{"output", "dqueries", "dkeys", "dvalues"};
  int status = 0;
  fmt::print("largest difference at T = {}:", length);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double apart = difference(*one.results()[i], *other.results()[i]);
    const bool same = apart <= kRounding;
    fmt::print(" {} {:.1e}{}", names[i], apart, same ? "" : " (NOT ROUNDING)");
    if (!same) status = 1;
  }
  fmt::print("\n");
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 2 && words[0] == "check") return check(std::stoll(words[1]));
    if (words.size() == 3 && (words[0] == "tiled" || words[0] == "pattern")) {
      measure(words[0], std::stoll(words[1]), std::stod(words[2]));
      return 0;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  std::cerr << "usage: tiled_attention tiled|pattern LENGTH SECONDS, or check LENGTH\n";
  return 2;
}
