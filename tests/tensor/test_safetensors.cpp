#include "tapehead/tensor/safetensors.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <system_error>
#include <type_traits>
#include <utility>

#include "support/testing.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDtype = sizeof(Real) == 8 ? "F64" : "F32";

/// A fresh folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "tapehead-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const std::string& name) const { return path_ / name; }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(path_), fs::directory_iterator());
  }

 private:
  fs::path path_;
};

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void put(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string length_bytes(std::uint64_t length) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes;
}

template <class... Numbers>
std::string raw(Numbers... numbers) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&numbers), sizeof(numbers)), ...);
  return bytes;
}

std::string archive(const std::string& header, const std::string& payload) {
  return length_bytes(header.size()) + header + payload;
}

/// Opens an archive of exactly these bytes; returns the error's text without the file's path, or "opened".
std::string open_bytes(const std::string& bytes) {
  const Folder folder;
  const fs::path path = folder / "handmade.safetensors";
  put(path, bytes);
  try {
    const SafetensorsFile file(path);
    return "opened";
  } catch (const Error& error) {
    const std::string start = "[safetensors] " + path.string() + ": ";
    const std::string text = error.what();
    REQUIRE_MESSAGE(text.starts_with(start), text);
    return text.substr(start.size());
  }
}

std::string entry(const std::string& name, const std::string& shape, const std::string& offsets,
                  const std::string& dtype = "F32") {
  return '"' + name + R"(":{"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" +
         offsets + "]}";
}

/// What reading one tensor of a handmade archive gives.
Tensor read_one(const std::string& header, const std::string& payload) {
  const Folder folder;
  put(folder / "one.safetensors", archive(header, payload));
  return SafetensorsFile(folder / "one.safetensors").read("a");
}

/// What of this program lies in memory now.
Index resident_bytes() {
  std::ifstream file("/proc/self/statm");
  Index all = 0, resident = 0;
  file >> all >> resident;
  REQUIRE(file.good());
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

TEST_CASE("what is written is read back, with names, shapes and metadata") {
  const Folder folder;
  const fs::path path = folder / "model.safetensors";
  const Tensor weight = testing::random_tensor({3, 5}, 1);
  const Tensor number({}, {Real(0.1)});
  const Tensor none(Shape{0, 4});
  const std::string odd_name = "a \"quoted\" name, ü and \\";
  write_safetensors(path,
                    {{"weight", weight.shape(), weight.data()},
                     {odd_name, number.shape(), number.data()},
                     {"none", none.shape(), none.data()}},
                    {{"step", "120"}, {"config", "[model]\nlayers = 2\n"}});

  const SafetensorsFile file(path);
  REQUIRE(file.entries().size() == 3);
  CHECK(file.entries()[0].name == odd_name);
  CHECK(file.entries()[1].name == "none");
  CHECK(file.entries()[2].name == "weight");
  CHECK(file.entries()[2].dtype == kDtype);
  CHECK(file.entries()[2].shape == std::vector<Index>{3, 5});
  CHECK(file.metadata() ==
        std::map<std::string, std::string>{{"config", "[model]\nlayers = 2\n"}, {"step", "120"}});
  CHECK(file.contains("weight"));
  CHECK_FALSE(file.contains("weigh"));
  testing::check_close(file.read("weight"), weight, 0);
  testing::check_close(file.read(odd_name), number, 0);
  CHECK(file.read("none").shape() == Shape{0, 4});
  CHECK_THROWS_WITH_AS(
      file.read("bias"),
      ("[safetensors] " + path.string() + ": there is no tensor \"bias\" among its 3").c_str(), Error);
}

TEST_CASE("infinities, NaN, minus zero and subnormals keep their bits") {
  using Limits = std::numeric_limits<Real>;
  const Tensor values(
      {5}, {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Real(-0.0), Limits::denorm_min()});
  const Folder folder;
  write_safetensors(folder / "x", {{"a", {5}, values.data()}});
  const Tensor back = SafetensorsFile(folder / "x").read("a");
  CHECK(std::memcmp(back.data(), values.data(), 5 * sizeof(Real)) == 0);
}

TEST_CASE("a tiny file has exactly these bytes") {
  const Folder folder;
  const std::array<Real, 2> a{1.5, -2};
  const std::array<Real, 1> b{3};
  write_safetensors(folder / "x", {{"b", {1}, b.data()}, {"a", {2, 1}, a.data()}}, {{"seed", "7"}});
  const std::string header =
      sizeof(Real) == 8
          ? R"({"__metadata__":{"seed":"7"},"a":{"dtype":"F64","shape":[2,1],"data_offsets":[0,16]},"b":{"dtype":"F64","shape":[1],"data_offsets":[16,24]}})"
          : R"({"__metadata__":{"seed":"7"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  CHECK(bytes_of(folder / "x") == archive(header + padding, raw(a[0], a[1], b[0])));
}

TEST_CASE("the header is padded to a multiple of 8, by the complement of the remainder") {
  const Folder folder;
  const Real value = 1;
  for (std::size_t length = 1; length <= 8; ++length) {
    write_safetensors(folder / "x", {{std::string(length, 'n'), {1}, &value}});
    const std::string bytes = bytes_of(folder / "x");
    const std::size_t end = bytes.find_last_of('}') + 1;
    const std::size_t header = bytes.size() - sizeof(Real) - 8;
    CHECK(header % 8 == 0);
    CHECK(header - (end - 8) < 8);
    CHECK(bytes.substr(0, 8) == length_bytes(header));
    CHECK(bytes.substr(end, 8 + header - end) == std::string(8 + header - end, ' '));
  }
}

TEST_CASE("an archive of nothing is two braces") {
  const Folder folder;
  write_safetensors(folder / "x", {});
  CHECK(bytes_of(folder / "x") == archive("{}      ", ""));
  CHECK(SafetensorsFile(folder / "x").entries().empty());
  CHECK(SafetensorsFile(folder / "x").metadata().empty());
}

TEST_CASE("the order in which tensors are given does not change the file") {
  const Folder folder;
  const Real one = 1, two = 2;
  write_safetensors(folder / "x", {{"a", {1}, &one}, {"b", {1}, &two}});
  write_safetensors(folder / "y", {{"b", {1}, &two}, {"a", {1}, &one}});
  CHECK(bytes_of(folder / "x") == bytes_of(folder / "y"));
}

TEST_CASE("names that cannot be are refused, and nothing is written") {
  const Folder folder;
  const fs::path path = folder / "x";
  const std::string start = "[safetensors] " + path.string() + ": ";
  const Real one = 1;
  CHECK_THROWS_WITH_AS(write_safetensors(path, {{"a", {1}, &one}, {"b", {1}, &one}, {"a", {1}, &one}}),
                       (start + "two tensors are named \"a\"").c_str(), Error);
  CHECK_THROWS_WITH_AS(write_safetensors(path, {{"__metadata__", {1}, &one}}),
                       (start + "the name __metadata__ is not a tensor's to have").c_str(), Error);
  CHECK_THROWS_WITH_AS(write_safetensors(path, {{"a", {1}, nullptr}}),
                       (start + "tensor \"a\" has no data").c_str(), Error);
  CHECK_THROWS_WITH_AS(write_safetensors(path, {{"caf\xe9", {1}, &one}}),
                       (start + "\"caf\\ufffd\" is not UTF-8 text").c_str(), Error);
  CHECK_THROWS_AS(write_safetensors(path, {}, {{"key", "\xff"}}), Error);
  CHECK(folder.files() == 0);
}

TEST_CASE("a file is replaced as a whole, and who has the old one open keeps it") {
  const Folder folder;
  const fs::path path = folder / "x";
  const Real before = 1, after = 2;
  write_safetensors(path, {{"a", {1}, &before}});
  const SafetensorsFile open_before(path);
  write_safetensors(path, {{"a", {1}, &after}});
  testing::check_close(open_before.read("a"), {1}, {1}, 0);
  testing::check_close(SafetensorsFile(path).read("a"), {1}, {2}, 0);
  CHECK(folder.files() == 1);
}

TEST_CASE("a disk that takes no more leaves the old file and nothing else") {
  const Folder folder;
  const fs::path path = folder / "x";
  const Tensor small({2}, {1, 2});
  const Tensor large(Shape{100'000});
  write_safetensors(path, {{"a", small.shape(), small.data()}});
  const std::string before = bytes_of(path);

  // A limit on the size of files stands in for the full disk.
  rlimit unlimited{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &unlimited) == 0);
  rlimit limited = unlimited;
  limited.rlim_cur = 100'000;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
  std::string message;
  try {
    write_safetensors(path, {{"a", large.shape(), large.data()}});
  } catch (const Error& error) {
    message = error.what();
  }
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &unlimited) == 0);
  std::signal(SIGXFSZ, old_handler);

  CHECK(message == "[safetensors] cannot write " + path.string() + ": File too large");
  CHECK(bytes_of(path) == before);
  CHECK(folder.files() == 1);
}

TEST_CASE("a place that cannot be written is named with the reason") {
  const Folder folder;
  const Real one = 1;
  const auto check_refused = [&](const fs::path& path, const std::string& reason) {
    CHECK_THROWS_WITH_AS(write_safetensors(path, {{"a", {1}, &one}}),
                         ("[safetensors] cannot write " + path.string() + ": " + reason).c_str(), Error);
  };
  check_refused(folder / "missing/x", "No such file or directory");
  put(folder / "file", "text");
  check_refused(folder / "file/x", "Not a directory");
  fs::create_directory(folder / "directory");
  check_refused(folder / "directory", "it is no regular file, and only such a file is replaced");
  check_refused("/proc/self/x", "No such file or directory");  // nobody can create a file there
  CHECK(bytes_of(folder / "file") == "text");
  CHECK(folder.files() == 2);
}

TEST_CASE("a file is written into the working folder by its bare name") {
  const Folder folder;
  const fs::path outside = fs::current_path();
  const Real one = 1;
  fs::current_path(folder / "");
  write_safetensors("x", {{"a", {1}, &one}});
  fs::current_path(outside);
  CHECK(fs::exists(folder / "x"));
  CHECK(folder.files() == 1);
}

TEST_CASE("a file has the permissions that any new file has") {
  const Folder folder;
  const Real one = 1;
  put(folder / "plain", "");
  write_safetensors(folder / "x", {{"a", {1}, &one}});
  CHECK(fs::status(folder / "x").permissions() == fs::status(folder / "plain").permissions());
}

TEST_CASE("a file that cannot be opened is named with the reason") {
  const Folder folder;
  const auto check_refused = [&](const std::string& name, const std::string& reason) {
    CHECK_THROWS_WITH_AS(SafetensorsFile(folder / name),
                         ("[safetensors] cannot read " + (folder / name).string() + ": " + reason).c_str(),
                         Error);
  };
  check_refused("missing", "No such file or directory");
  check_refused("", "it is not a regular file");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  check_refused("pipe", "it is not a regular file");
}

TEST_CASE("an open file can be moved, not copied") {
  const Folder folder;
  const Real one = 1;
  write_safetensors(folder / "x", {{"a", {1}, &one}});
  SafetensorsFile first(folder / "x");
  const SafetensorsFile second = std::move(first);
  testing::check_close(second.read("a"), {1}, {1}, 0);
  CHECK_FALSE(first.contains("a"));  // NOLINT(bugprone-use-after-move)
  CHECK_FALSE(std::is_copy_constructible_v<SafetensorsFile>);
}

TEST_CASE("a header length that wraps, is too large or runs past the file is refused") {
  CHECK(open_bytes("") == "expected at least the 8 bytes of the header's length, got 0");
  CHECK(open_bytes("1234567") == "expected at least the 8 bytes of the header's length, got 7");
  CHECK(open_bytes(length_bytes(0xfffffffffffffffc) + "{}") ==
        "expected a header of at most 100000000 bytes, got a length of 18446744073709551612");
  CHECK(open_bytes(length_bytes(101'000'000) + "{}") ==
        "expected a header of at most 100000000 bytes, got a length of 101000000");
  CHECK(open_bytes(length_bytes(10) + "{}") ==
        "the header's 10 bytes run past the end of the file, which has 2 more");
  CHECK(open_bytes(length_bytes(3) + "{}") ==
        "the header's 3 bytes run past the end of the file, which has 2 more");
  CHECK(open_bytes(length_bytes(2) + "{}") == "opened");
}

TEST_CASE("the order of the entries in the header does not matter") {
  const Folder folder;
  put(folder / "x", archive("{" + entry("b", "1", "4,8") + "," + entry("c", "0", "4,4") + "," +
                                entry("a", "1", "0,4") + "}",
                            raw(1.0f, 2.0f)));
  const SafetensorsFile file(folder / "x");
  testing::check_close(file.read("a"), {1}, {1}, 0);
  testing::check_close(file.read("b"), {1}, {2}, 0);
  CHECK(file.entries()[0].name == "a");
  CHECK(file.entries()[2].name == "c");
}

TEST_CASE("data that starts at an unaligned byte is read as well") {
  const std::string header = "{" + entry("a", "2", "0,8") + "}";
  for (std::size_t spaces = 0; spaces < 8; ++spaces)
    testing::check_close(read_one(header + std::string(spaces, ' '), raw(1.5f, -2.5f)), {2}, {1.5, -2.5}, 0);
  const std::string doubles = "{" + entry("a", "2", "0,16", "F64") + "}";
  for (std::size_t spaces = 0; spaces < 8; ++spaces)
    testing::check_close(read_one(doubles + std::string(spaces, ' '), raw(1.5, -2.5)), {2}, {1.5, -2.5}, 0);
}

TEST_CASE("BF16 and F16 are converted") {
  testing::check_close(read_one("{" + entry("a", "2", "0,4", "BF16") + "}", "\xc0\x3f\x20\xc0"), {2},
                       {1.5, -2.5}, 0);
  testing::check_close(
      read_one("{" + entry("a", "2", "0,4", "F16") + "}", std::string("\x00\x3e\x00\xc1", 4)), {2},
      {1.5, -2.5}, 0);
}

TEST_CASE("every kind of F16 number is converted exactly") {
  const auto half = [](int bits) {
    return read_one("{" + entry("a", "1", "0,2", "F16") + "}", raw(static_cast<std::uint16_t>(bits)))(0);
  };
  CHECK(half(0x0000) == 0);
  CHECK(std::signbit(half(0x8000)));
  CHECK(half(0x8000) == 0);
  CHECK(half(0x0001) == Real(0x1p-24));
  CHECK(half(0x83ff) == Real(-0x1.ff8p-15));
  CHECK(half(0x0400) == Real(0x1p-14));
  CHECK(half(0x3c00) == 1);
  CHECK(half(0x3555) == Real(0.333251953125));
  CHECK(half(0x7bff) == 65504);
  CHECK(half(0x7c00) == std::numeric_limits<Real>::infinity());
  CHECK(half(0xfc00) == -std::numeric_limits<Real>::infinity());
  CHECK(std::isnan(half(0x7e00)));
  CHECK(std::isnan(half(0xfc01)));
}

TEST_CASE("F64 is rounded to Real, to infinity where it is too large") {
  const Tensor tensor = read_one("{" + entry("a", "2", "0,16", "F64") + "}", raw(0.1, 1e300));
  CHECK(tensor(0) == Real(0.1));
  CHECK(tensor(1) == (sizeof(Real) == 8 ? Real(1e300) : std::numeric_limits<Real>::infinity()));
}

TEST_CASE("other dtypes are listed, and refused by name when read") {
  const Folder folder;
  put(folder / "x",
      archive("{" + entry("count", "1", "0,8", "I64") + "," + entry("flag", "3", "8,11", "BOOL") + "," +
                  entry("six", "4", "11,14", "F6_E2M3") + "}",
              std::string(14, '\1')));
  const SafetensorsFile file(folder / "x");
  REQUIRE(file.entries().size() == 3);
  CHECK(file.entries()[1].dtype == "BOOL");
  CHECK(file.entries()[1].shape == std::vector<Index>{3});
  CHECK_THROWS_WITH_AS(file.read("count"),
                       ("[safetensors] " + (folder / "x").string() +
                        ": tensor \"count\": expected dtype F32, F64, F16 or BF16, got I64")
                           .c_str(),
                       Error);
  CHECK_THROWS_AS(file.read("flag"), Error);
}

TEST_CASE("more axes than a shape has are listed, and refused by name when read") {
  const Folder folder;
  put(folder / "x", archive("{" + entry("a", "1,1,1,1,1,1,1", "0,4") + "}", raw(1.0f)));
  const SafetensorsFile file(folder / "x");
  CHECK(file.entries()[0].shape == std::vector<Index>(7, 1));
  CHECK_THROWS_WITH_AS(
      file.read("a"),
      ("[safetensors] " + (folder / "x").string() + ": tensor \"a\" has 7 axes, more than the 6 of a Shape")
          .c_str(),
      Error);
}

TEST_CASE("listing a file of 5 GiB and reading a small tensor of it takes almost no memory") {
  constexpr Index kLarge = Index{5} << 30;
  const Folder folder;
  const fs::path path = folder / "large";
  const std::string end = std::to_string(kLarge);
  put(path, archive("{" + entry("large", std::to_string(kLarge / 4), "0," + end) + "," +
                        entry("small", "3", end + "," + std::to_string(kLarge + 12)) + "}",
                    ""));
  std::error_code refused;
  // A hole, which takes no room on the disk.
  fs::resize_file(path, fs::file_size(path) + static_cast<std::uintmax_t>(kLarge), refused);
  if (refused) {
    std::cout << "SKIPPED: the disk takes no file of 5 GiB: " << refused.message() << '\n';
    return;
  }
  std::ofstream(path, std::ios::binary | std::ios::app) << raw(1.5f, -2.5f, 3.5f);

  const Index before = resident_bytes();
  const SafetensorsFile file(path);
  CHECK(file.entries().size() == 2);
  testing::check_close(file.read("small"), {3}, {1.5, -2.5, 3.5}, 0);
  CHECK(resident_bytes() - before < 4'000'000);
}

}  // namespace tapehead
