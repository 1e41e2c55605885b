#include "tapehead/exchange/npz.h"

#include <sys/resource.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "exchange/foreign.h"
#include "support/models.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

namespace fs = std::filesystem;

constexpr const char* kDescr = sizeof(Real) == 8 ? "<f8" : "<f4";

std::uint32_t number_at(const std::string& bytes, std::size_t at, int size) {
  std::uint32_t number = 0;
  REQUIRE(at + static_cast<std::size_t>(size) <= bytes.size());
  std::memcpy(&number, bytes.data() + at, static_cast<std::size_t>(size));
  return number;
}

/// The checksum of zip files, bit by bit.
std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

struct Entry {
  std::string name;
  std::string bytes;
};

/// The entries of a zip file of which nothing is compressed, by its table of contents. Checks every entry's
/// method, sizes, checksum and place.
std::vector<Entry> entries_of(const std::string& zip) {
  constexpr std::size_t end_size = 22;
  REQUIRE(zip.size() >= end_size);
  const std::size_t end = zip.size() - end_size;  // there is no comment
  REQUIRE(zip.substr(end, 4) == "PK\x05\x06");
  std::size_t at = number_at(zip, end + 16, 4);
  std::vector<Entry> entries;
  for (std::uint32_t left = number_at(zip, end + 10, 2); left > 0; --left) {
    REQUIRE(zip.substr(at, 4) == "PK\x01\x02");
    const std::size_t size = number_at(zip, at + 24, 4);
    const std::size_t name_size = number_at(zip, at + 28, 2);
    const std::string name = zip.substr(at + 46, name_size);
    CAPTURE(name);
    CHECK(number_at(zip, at + 10, 2) == 0);  // stored
    CHECK(number_at(zip, at + 20, 4) == size);
    const std::size_t local = number_at(zip, at + 42, 4);
    REQUIRE(zip.substr(local, 4) == "PK\x03\x04");
    CHECK(number_at(zip, local + 18, 4) == size);
    CHECK(number_at(zip, local + 22, 4) == size);
    CHECK(zip.substr(local + 30, name_size) == name);
    const std::size_t begin = local + 30 + number_at(zip, local + 26, 2) + number_at(zip, local + 28, 2);
    REQUIRE(begin + size <= end);
    entries.push_back({name, zip.substr(begin, size)});
    CHECK(number_at(zip, at + 16, 4) == crc32(entries.back().bytes));
    at += 46 + name_size + number_at(zip, at + 30, 2) + number_at(zip, at + 32, 2);
  }
  CHECK(at == end);
  return entries;
}

std::vector<NamedTensor> two_tensors() {
  static const Tensor matrix({2, 3}, {1, 2, 3, 4, 5, Real(0.1)});
  static const Tensor row({3}, {7, 8, 9});
  return {{"z.matrix", matrix.shape(), matrix.data()}, {"a.row", row.shape(), row.data()}};
}

std::string numbers_of(const NamedTensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data),
          static_cast<std::size_t>(tensor.shape.count()) * sizeof(Real)};
}

}  // namespace

TEST_CASE("an archive is a zip of arrays as NumPy keeps them, in the order given") {
  const Folder folder;
  write_npz(folder / "x.npz", two_tensors());
  const std::vector<Entry> entries = entries_of(text_of(folder / "x.npz"));
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].name == "z.matrix.npy");
  CHECK(entries[1].name == "a.row.npy");
  const std::array<std::string, 2> shapes{"(2, 3)", "(3,)"};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string& bytes = entries[i].bytes;
    CHECK(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
    const std::size_t length = number_at(bytes, 8, 2);
    CHECK((10 + length) % 64 == 0);
    const std::string header = bytes.substr(10, length);
    const std::string text =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", kDescr, shapes[i]);
    CHECK(header == text + std::string(length - text.size() - 1, ' ') + "\n");
    CHECK(bytes.substr(10 + length) == numbers_of(two_tensors()[i]));
  }
}

TEST_CASE("an archive without arrays, and arrays without elements or axes, are whole") {
  const Folder folder;
  write_npz(folder / "none.npz", {});
  CHECK(entries_of(text_of(folder / "none.npz")).empty());
  const Tensor one(Shape{}, {Real(2)});
  write_npz(folder / "small.npz", {{"empty", {0, 3}, nullptr}, {"one", {}, one.data()}});
  const std::vector<Entry> entries = entries_of(text_of(folder / "small.npz"));
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].bytes.size() == 128);
  CHECK(entries[0].bytes.find("'shape': (0, 3),") != std::string::npos);
  CHECK(entries[1].bytes.find("'shape': (),") != std::string::npos);
  CHECK(entries[1].bytes.size() == 128 + sizeof(Real));
}

TEST_CASE("equal models give equal bytes") {
  const Folder folder;
  for (const char* name : {"a", "b"}) export_npz(random_model(small_gpt2()), folder / name);
  CHECK(text_of(folder / "a/model.npz") == text_of(folder / "b/model.npz"));
}

TEST_CASE("an exported model has every parameter under its name, and the model's config") {
  const Folder folder;
  const Transformer model = random_model(small_gpt2());
  export_npz(model, folder / "out");
  const std::vector<Entry> entries = entries_of(text_of(folder / "out/model.npz"));
  REQUIRE(entries.size() == model.parameters().entries().size());
  for (std::size_t i = 0; i < entries.size(); ++i)
    CHECK(entries[i].name == model.parameters().entries()[i].name + ".npy");
  CHECK(nlohmann::json::parse(text_of(folder / "out/config.json")) ==
        nlohmann::json{{"vocabulary", 7},
                       {"context", 10},
                       {"width", 8},
                       {"heads", 2},
                       {"layers", 2},
                       {"feed_forward", 12},
                       {"norm", "layer"},
                       {"qkv_bias", true},
                       {"bias", true},
                       {"tied", true},
                       {"dropout", 0.25},
                       {"positions", "learned"},
                       {"activation", "gelu"},
                       {"gelu", "tanh"},
                       {"attention", "pattern"},
                       {"scores", "dot"},
                       {"scaled_scores", true},
                       {"query_key_norm", false},
                       {"smeared_keys", false},
                       {"initialisation", "gpt2"}});
}

TEST_CASE("NumPy reads every parameter back with the same bits") {
  const Folder folder;
  const Transformer model = random_model(small_gpt2());
  export_npz(model, folder.path());
  if (!run_script("npz_to_safetensors.py",
                  {(folder / "model.npz").string(), (folder / "back.safetensors").string()}))
    return;
  const SafetensorsFile back(folder / "back.safetensors");
  CHECK(back.entries().size() == model.parameters().entries().size());
  for (const Parameters::Entry& entry : model.parameters().entries())
    CHECK(same_bits(back.read(entry.name), parameter_value(model, entry.name)));
}

TEST_CASE("two arrays of one name are refused") {
  const Folder folder;
  std::vector<NamedTensor> tensors = two_tensors();
  tensors[1].name = tensors[0].name;
  CHECK_THROWS_WITH_AS(
      write_npz(folder / "x.npz", tensors),
      ("[npz] " + (folder / "x.npz").string() + ": two tensors are named \"z.matrix\"").c_str(), Error);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("where the disk refuses, the old file stays and nothing else is left") {
  const Folder folder;
  CHECK_THROWS_WITH_AS(
      write_npz(folder / "missing/x.npz", two_tensors()),
      ("[npz] cannot write " + (folder / "missing/x.npz").string() + ": No such file or directory").c_str(),
      Error);
  put(folder / "x.npz", "old");
  const Tensor large({1 << 16});
  // A limit on the size of files is as good as a full disk.
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 1000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string text = "accepted";
  try {
    write_npz(folder / "x.npz", {{"large", large.shape(), large.data()}});
  } catch (const Error& error) {
    text = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(text == "[npz] cannot write " + (folder / "x.npz").string() + ": File too large");
  CHECK(text_of(folder / "x.npz") == "old");
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}
