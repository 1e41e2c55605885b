// The matrix product that the shapes here ask for: many rows, few columns, heads of 16 to 64.
//
// C is computed in tiles of a few rows and two vectors of columns, whose sums stay in registers while one
// loop runs over k (Goto and van de Geijn 2008, "Anatomy of high-performance matrix multiplication"). B is
// read in panels as wide as a tile: in place where its rows already lie well, else packed. Vectors are the
// compiler's own, so the same lines are AVX2 and AVX-512. An element of C is one sum in the order of k (and
// one more for each kDepth of them), wherever in C its tile lies; a C of one row has an order of its own.

#include "tapehead/tensor/gemm.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "tapehead/tensor/blas_gemm.h"

namespace tapehead {

namespace {

thread_local Index operations = 0;

/// Everything gemm was asked for but its sizes.
struct Product {
  Real* c;
  Index c_stride;
  Matrix a;
  Real alpha;
  Real beta;
  Triangle triangle;
};

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kRows = 12;  // 24 of 32 registers hold sums
#else
constexpr int kVectorBytes = 32;
constexpr int kRows = 6;  // 12 of 16
#endif
constexpr int kVectors = 2;
constexpr Index kLanes = kVectorBytes / static_cast<Index>(sizeof(Real));
constexpr Index kPanel = kVectors * kLanes;
constexpr Index kDepth = 256;    // a tile's part of A stays in the first cache,
constexpr Index kColumns = 512;  // and kDepth rows of so many columns of B in the second

using Lanes [[gnu::vector_size(kVectorBytes)]] = Real;
using UnalignedLanes [[gnu::vector_size(kVectorBytes), gnu::aligned(alignof(Real)), gnu::may_alias]] = Real;

Lanes load(const Real* from) { return *reinterpret_cast<const UnalignedLanes*>(from); }
void store(Real* to, Lanes value) { *reinterpret_cast<UnalignedLanes*>(to) = value; }

/// The first `count` numbers, and zeros.
Lanes load_some(const Real* from, Index count) {
  Lanes value = {};
  for (Index i = 0; i < count; ++i) value[i] = from[i];
  return value;
}

/// Some rows of A: element (r, p) lies at data[r * row + p * step].
struct Rows {
  const Real* data;
  Index row;
  Index step;
};

/// Some columns of B, a row of them every `stride` numbers.
struct Panel {
  const Real* data;
  Index stride;
};

/// One tile of C, of which `columns` are wanted: c = alpha * a * b + beta * c.
struct Tile {
  Real* c;
  Index c_stride;
  Index columns;
  Rows a;
  Panel b;
  Index depth;
  Real alpha;
  Real beta;
};

/// R rows and V vectors of columns. noinline: a tile is worth a call, and inlined into one another they run
/// out of registers.
template <int R, int V>
[[gnu::noinline]] void multiply_tile(const Tile& tile) {
  constexpr std::size_t kBases =
      (R + 3) / 4;  // addresses within four rows of a base need no register of their own
  const Index row_stride = tile.a.row;
  std::array<const Real*, kBases> base;
#pragma GCC unroll 3
  for (std::size_t i = 0; i < kBases; ++i) base[i] = tile.a.data + 4 * static_cast<Index>(i) * row_stride;
  const Real* b = tile.b.data;
  Lanes sum[R][V] = {};
  for (Index p = tile.depth; p > 0; --p) {
    Lanes row[V];
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) row[v] = load(b + v * kLanes);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      const Real factor = base[static_cast<std::size_t>(r / 4)][(r % 4) * row_stride];
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) sum[r][v] += factor * row[v];
    }
#pragma GCC unroll 3
    for (std::size_t i = 0; i < kBases; ++i) base[i] += tile.a.step;
    b += tile.b.stride;
  }

  if (tile.alpha != 1)
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) sum[r][v] *= tile.alpha;
  Real* c = tile.c;
  if (tile.columns == V * kLanes) {
    if (tile.beta != 0)
#pragma GCC unroll 12
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) sum[r][v] += tile.beta * load(c + r * tile.c_stride + v * kLanes);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) store(c + r * tile.c_stride + v * kLanes, sum[r][v]);
    return;
  }
  std::array<Real, R * V * kLanes> whole;
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) store(whole.data() + (r * V + v) * kLanes, sum[r][v]);
  for (int r = 0; r < R; ++r)
    for (Index j = 0; j < tile.columns; ++j) {
      Real& to = c[r * tile.c_stride + j];
      const Real product = whole[static_cast<std::size_t>(r * V * kLanes + j)];
      to = tile.beta == 0 ? product : product + tile.beta * to;
    }
}

using TileFunction = void (*)(const Tile&);

template <int V, std::size_t... R>
constexpr std::array<TileFunction, kRows> tiles_of(std::index_sequence<R...>) {
  return {multiply_tile<static_cast<int>(R) + 1, V>...};
}
constexpr std::array<std::array<TileFunction, kRows>, kVectors> kTiles{
    tiles_of<1>(std::make_index_sequence<kRows>()), tiles_of<2>(std::make_index_sequence<kRows>())};

/// The vectors that `columns` columns take.
constexpr int vectors_for(Index columns) { return columns > kLanes ? 2 : 1; }

/// The numbers of a and b by turns, from number First of each.
template <std::size_t First, std::size_t... I>
Lanes interleave(Lanes a, Lanes b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (First + I / 2 + I % 2 * kLanes)...);
}

using Square = std::array<Lanes, kLanes>;

/// Interleaving the first half of the rows with the second, once for each bit of a row's number, transposes.
void transpose(Square& rows) {
  constexpr auto places = std::make_index_sequence<kLanes>();
  constexpr std::size_t half = kLanes / 2;
#pragma GCC unroll 4
  for (std::size_t bit = 1; bit < kLanes; bit *= 2) {
    Square next;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < half; ++i) {
      next[2 * i] = interleave<0>(rows[i], rows[i + half], places);
      next[2 * i + 1] = interleave<half>(rows[i], rows[i + half], places);
    }
    rows = next;
  }
}

/// The matrix whose element (0, 0) is element (i, j) of this one.
Matrix from(Matrix matrix, Index i, Index j) {
  matrix.data += matrix.transposed ? j * matrix.stride + i : i * matrix.stride + j;
  return matrix;
}

/// Copies `depth` rows of `columns` of B side by side, each padded with zeros to whole vectors.
void pack_panel(Real* to, Matrix b, Index columns, Index depth) {
  const Index width = vectors_for(columns) * kLanes;
  for (Index j = 0; j < width; j += kLanes) {
    const Index lanes = std::min(kLanes, columns - j);
    if (!b.transposed) {
      for (Index p = 0; p < depth; ++p) {
        const Real* row = b.data + p * b.stride + j;
        store(to + p * width + j, lanes == kLanes ? load(row) : load_some(row, lanes));
      }
      continue;
    }
    for (Index p = 0; p < depth; p += kLanes) {
      const Index deep = std::min(kLanes, depth - p);
      const Real* corner = b.data + j * b.stride + p;
      Square square{};
      if (lanes == kLanes && deep == kLanes) {
#pragma GCC unroll 16
        for (Index i = 0; i < kLanes; ++i) square[static_cast<std::size_t>(i)] = load(corner + i * b.stride);
      } else {
        for (Index i = 0; i < lanes; ++i)
          square[static_cast<std::size_t>(i)] = load_some(corner + i * b.stride, deep);
      }
      transpose(square);
      for (Index i = 0; i < deep; ++i) store(to + (p + i) * width + j, square[static_cast<std::size_t>(i)]);
    }
  }
}

/// Copies `rows` rows of A, transposed, to lie side by side at every step of k.
Rows pack_rows(Real* to, Rows a, Index rows, Index depth) {
  for (Index p = 0; p < depth; ++p)
    for (Index r = 0; r < rows; ++r) to[p * kRows + r] = a.data[r * a.row + p * a.step];
  return {to, 1, kRows};
}

/// A thread's room for packed numbers.
struct Room {
  alignas(kVectorBytes) std::array<Real, kRows * kDepth> a;
  alignas(kVectorBytes) std::array<Real, kColumns * kDepth> b;
};

/// kDepth steps of k and kColumns columns of the product.
class Block {
 public:
  Block(Matrix b, Index columns, Index depth, bool packed, Real* room)
      : b_(b), columns_(columns), depth_(depth), room_(room) {
    first_packed_ = packed ? 0 : columns / kPanel * kPanel;
    if (!packed && columns % kLanes == 0) first_packed_ = columns;
    for (Index j = first_packed_; j < columns; j += kPanel)
      pack_panel(packed_at(j), from(b, 0, j), std::min(kPanel, columns - j), depth);
  }

  Panel panel(Index j) const {
    if (j < first_packed_) return {b_.data + j, b_.stride};
    return {packed_at(j), vectors_for(columns_ - j) * kLanes};
  }
  Index columns() const { return columns_; }
  Index depth() const { return depth_; }

 private:
  Real* packed_at(Index j) const { return room_ + (j - first_packed_) * depth_; }

  Matrix b_;
  Index columns_;
  Index depth_;
  Real* room_;
  Index first_packed_;  // columns from here on were copied
};

/// Rows i, ..., i + rows - 1 of C for one block of B, whose element (0, 0) is element (k0, n0).
void multiply_rows(const Product& product, const Block& block, Index i, int rows, Index k0, Index n0,
                   Real* room) {
  const Triangle triangle = product.triangle;
  const Index first = triangle == Triangle::upper_a ? std::clamp<Index>(i - k0, 0, block.depth()) : 0;
  const Index last =
      triangle == Triangle::lower_a ? std::clamp<Index>(i + rows - k0, 0, block.depth()) : block.depth();
  if (first == last && k0 > 0) return;
  const Index columns =
      triangle == Triangle::lower_c ? std::clamp<Index>(i + rows - n0, 0, block.columns()) : block.columns();

  const Matrix corner = from(product.a, i, k0 + first);
  Rows a = corner.transposed ? Rows{corner.data, 1, corner.stride} : Rows{corner.data, corner.stride, 1};
  // A step of k through a transposed A jumps a row ahead; worth a copy where several panels read it.
  if (corner.transposed && columns > 2 * kPanel) a = pack_rows(room, a, rows, last - first);
  Tile tile{.c = product.c + i * product.c_stride + n0,
            .c_stride = product.c_stride,
            .columns = 0,
            .a = a,
            .b = {},
            .depth = last - first,
            .alpha = product.alpha,
            .beta = k0 == 0 ? product.beta : 1};
  for (Index j = 0; j < columns; j += kPanel, tile.c += kPanel) {
    tile.columns = std::min(kPanel, columns - j);
    tile.b = block.panel(j);
    tile.b.data += first * tile.b.stride;
    const auto vectors = static_cast<std::size_t>(vectors_for(tile.columns));
    kTiles[vectors - 1][static_cast<std::size_t>(rows - 1)](tile);
  }
}

/// A single row of C where B is transposed: each element is the inner product of two rows as they lie, and no
/// tile is worth packing B for. It is what a text costs that is read on token by token.
void multiply_row(const Product& product, Matrix b, Index n, Index k) {
  constexpr Index kSums = 4;  // enough to keep the units busy
  for (Index j = 0; j < n; ++j) {
    const Real* row = b.data + j * b.stride;
    std::array<Lanes, kSums> sums = {};
    Index i = 0;
    for (; i + kSums * kLanes <= k; i += kSums * kLanes)
      for (Index s = 0; s < kSums; ++s)
        sums[static_cast<std::size_t>(s)] +=
            load(product.a.data + i + s * kLanes) * load(row + i + s * kLanes);
    for (; i < k; i += kLanes)
      sums[0] += load_some(product.a.data + i, std::min(kLanes, k - i)) *
                 load_some(row + i, std::min(kLanes, k - i));
    const Lanes all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    Real sum = 0;
    for (Index lane = 0; lane < kLanes; ++lane) sum += all[lane];
    product.c[j] = product.alpha * sum + (product.beta == 0 ? 0 : product.beta * product.c[j]);
  }
}

void multiply(const Product& product, Matrix b, Index m, Index n, Index k) {
  if (m == 1 && b.transposed && !product.a.transposed) return multiply_row(product, b, n, k);
  thread_local const std::unique_ptr<Room> room = std::make_unique_for_overwrite<Room>();
  // Rows of B that lie far apart are copied together, unless few tiles would read them.
  const bool packed = b.transposed || (m > 4 * kRows && n * k > 8192);
  Index k0 = 0;
  do {
    const Index depth = std::min(kDepth, k - k0);
    for (Index n0 = 0; n0 < n; n0 += kColumns) {
      const Block block(from(b, k0, n0), std::min(kColumns, n - n0), depth, packed, room->b.data());
      for (Index i = 0; i < m; i += kRows)
        multiply_rows(product, block, i, static_cast<int>(std::min<Index>(kRows, m - i)), k0, n0,
                      room->a.data());
    }
    k0 += kDepth;
  } while (k0 < k);
}

#else

void multiply(const Product& product, Matrix b, Index m, Index n, Index k) {
  blas_gemm(product.c, product.c_stride, product.a, b, m, n, k, product.alpha, product.beta);
}

#endif

}  // namespace

void gemm(Real* c, Index c_stride, Matrix a, Matrix b, Index m, Index n, Index k, Real alpha, Real beta,
          Triangle triangle) {
  if (m == 0 || n == 0) return;
  operations += 2 * m * n * k;
  multiply({c, c_stride, a, alpha, beta, triangle}, b, m, n, k);
}

Index gemm_operations() { return operations; }

}  // namespace tapehead
