#include "tapehead/base/digest.h"

#include <set>

#include "support/testing.h"

using namespace tapehead;

namespace {

std::string digest_of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.text();
}

}  // namespace

TEST_CASE("equal bytes have equal digests, and every flipped bit and every other length another") {
  const std::string bytes = "a run that outlives what happens to it";
  CHECK(digest_of(bytes) == digest_of(std::string(bytes)));
  CHECK(digest_of(bytes).size() == 16);
  std::set<std::string> digests{digest_of(bytes)};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CHECK(digests.insert(digest_of(bytes.substr(0, i))).second);
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      CHECK(digests.insert(digest_of(flipped)).second);
    }
  }
  CHECK(digest_of(std::string("a\0", 2)) != digest_of("a"));
}
