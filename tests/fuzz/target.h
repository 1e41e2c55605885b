/// A fuzz target: a function that is given any bytes at all, and throws where a promise is broken.
///
/// A target's file ends with FUZZ_TARGET(name, factor, function). With TAPEHEAD_FUZZ that is libFuzzer's
/// entry; without, it is a test that gives the function every file of corpus/name, where seeds and findings
/// are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/allocation.h"
#include "tapehead/base/require.h"

namespace tapehead::fuzz {

/// Gives the function the bytes. Throws InternalError if that takes more memory than their number times the
/// factor, beside what tables and messages take.
template <class Function>
void take(std::string_view bytes, Index factor, const Function& function) {
  // A valid config, however short, is saved with all its documentation, and read again.
  constexpr Index kAnyway = 256 * 1024;
  const AllocationPeak peak;
  function(bytes);
  ensure(peak.bytes() <= kAnyway + factor * static_cast<Index>(bytes.size()),
         "[fuzz] {} bytes were allocated for an input of {}", peak.bytes(), bytes.size());
}

}  // namespace tapehead::fuzz

#ifdef TAPEHEAD_FUZZ

#define FUZZ_TARGET(name, factor, function)                                              \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {    \
    tapehead::fuzz::take({reinterpret_cast<const char*>(data), size}, factor, function); \
    return 0;                                                                            \
  }

#else

#include "support/folder.h"

namespace tapehead::fuzz {

/// Checks that the function throws at no file of the corpus.
template <class Function>
void take_corpus(const std::string& name, Index factor, const Function& function) {
  int files = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(TAPEHEAD_SOURCE_DIR "/tests/fuzz/corpus/" + name)) {
    CAPTURE(file.path().filename().string());
    const std::string bytes = testing::text_of(file.path());
    CHECK_NOTHROW(take(bytes, factor, function));
    ++files;
  }
  CHECK(files >= 12);
}

}  // namespace tapehead::fuzz

#define FUZZ_TARGET(name, factor, function)                               \
  TEST_CASE("every file of the corpus of " #name " is read or refused") { \
    tapehead::fuzz::take_corpus(#name, factor, function);                 \
  }

#endif
