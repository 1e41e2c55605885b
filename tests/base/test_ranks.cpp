#include "tapehead/base/ranks.h"

#include <array>
#include <numeric>

#include "support/ranks.h"
#include "support/testing.h"
#include "tapehead/base/parallel.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("a process alone is rank 0 of one, and gathers and broadcasts what it has") {
  Ranks alone;
  CHECK(alone.alone());
  CHECK(alone.leads());
  CHECK(alone.any(true, "stop"));
  CHECK(!alone.any(false, "stop"));
  const std::array numbers{1.5, 2.5};
  CHECK(alone.gather(numbers, "losses") == std::vector<double>{1.5, 2.5});
  CHECK(alone.gather("word", "words") == std::vector<std::string>{"word"});
  CHECK(alone.broadcast("word", "words") == "word");
  alone.exchange({}, {}, "nothing");
  CHECK(!alone.receive());
  CHECK(alone.traffic().empty());
  CHECK(alone.threads_each() == hardware_threads());
}

TEST_CASE("ranks gather numbers and texts of any length in the order of their ranks") {
  check_on_ranks(3, [](Ranks& ranks) {
    const std::array mine{10.0 * ranks.rank(), 10.0 * ranks.rank() + 1};
    CHECK(ranks.gather(mine, "losses") == std::vector<double>{0, 1, 10, 11, 20, 21});
    const std::string text(static_cast<std::size_t>(2 - ranks.rank()), 'x');
    CHECK(ranks.gather(text, "texts") == std::vector<std::string>{"xx", "x", ""});
  });
}

TEST_CASE("what holds on any rank holds on all") {
  for (int which = -1; which < 3; ++which)
    check_on_ranks(3, [&](Ranks& ranks) { CHECK(ranks.any(ranks.rank() == which, "stop") == (which >= 0)); });
}

TEST_CASE("rank 0's texts and numbers reach all others") {
  check_on_ranks(3, [](Ranks& ranks) {
    CHECK(ranks.broadcast(ranks.leads() ? "of rank 0" : "another, longer one", "text") == "of rank 0");
    std::vector<Real> numbers(5, static_cast<Real>(ranks.rank()));
    ranks.broadcast(numbers, "numbers");
    CHECK(numbers == std::vector<Real>(5, 0));
  });
}

TEST_CASE("an exchange brings every rank what each other meant for it, in the order in which it was sent") {
  check_on_ranks(3, [](Ranks& ranks) {
    const int me = ranks.rank();
    const std::vector<Real> first(2, static_cast<Real>(me));
    const std::vector<Real> second(3, static_cast<Real>(10 + me));
    const int next = (me + 1) % 3;
    const int previous = (me + 2) % 3;
    std::vector<Real> a(2);
    std::vector<Real> b(3);
    ranks.exchange({{next, first}, {next, second}}, {{previous, a}, {previous, b}}, "round");
    CHECK(a == std::vector<Real>(2, static_cast<Real>(previous)));
    CHECK(b == std::vector<Real>(3, static_cast<Real>(10 + previous)));
  });
}

TEST_CASE("what ranks have filled in of an array comes together on rank 0, and is counted as they send it") {
  check_on_ranks(3, [](Ranks& ranks) {
    const std::vector<Index> bounds{0, 2, 2, 5};
    std::vector<char> text(5, '.');
    for (Index i = bounds[static_cast<std::size_t>(ranks.rank())];
         i < bounds[static_cast<std::size_t>(ranks.rank()) + 1]; ++i)
      text[static_cast<std::size_t>(i)] = static_cast<char>('a' + i);
    ranks.forget_traffic();
    ranks.collect(std::as_writable_bytes(std::span(text)), bounds, "letters");
    CHECK(std::string(text.begin(), text.end()) == (ranks.rank() == 0   ? "abcde"
                                                    : ranks.rank() == 1 ? "....."
                                                                        : "..cde"));
    CHECK(ranks.traffic().at(0).bytes == (ranks.rank() == 2 ? 3 : 0));
  });
}

TEST_CASE("traffic counts the bytes that a rank sends to others, under the name of the call") {
  check_on_ranks(4, [](Ranks& ranks) {
    ranks.forget_traffic();
    const std::array mine{1.0, 2.0};
    ranks.gather(mine, "losses");
    ranks.gather(mine, "losses");
    ranks.any(false, "stop");
    CHECK(ranks.traffic().size() == 2);
    CHECK(ranks.traffic().at(0).what == "losses");
    CHECK(ranks.traffic().at(0).calls == 2);
    CHECK(ranks.traffic().at(0).bytes == 2 * 3 * 16);
    CHECK(ranks.traffic().at(1).bytes == 3);
    CHECK(ranks.traffic().at(1).seconds >= 0);
  });
}

TEST_CASE("ranks on the same processors share them out, at least one each") {
  check_on_ranks(3, [](Ranks& ranks) { CHECK(ranks.threads_each() == std::max(1, hardware_threads() / 3)); });
}

TEST_CASE("a message waits until the rank that it is for looks") {
  check_on_ranks(2, [](Ranks& ranks) {
    if (ranks.leads()) ranks.send(1, "three");
    ranks.any(false, "until then");
    const auto message = ranks.receive();
    CHECK(message.has_value() == !ranks.leads());
    if (message) CHECK(message->from == 0);
    if (message) CHECK(message->text == "three");
    CHECK(!ranks.receive());
  });
}

TEST_CASE("a rank is named with the host it runs on") {
  check_on_ranks(2, [](Ranks& ranks) { CHECK(ranks.name(1) == "rank 1 on here"); });
}
