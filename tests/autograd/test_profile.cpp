#include "tapehead/autograd/profile.h"

#include <string>

#include "support/testing.h"

namespace tapehead {

using std::chrono::seconds;

TEST_CASE("times add up by name, and every forward time is a call") {
  Profile profile;
  CHECK(profile.entries().empty());
  profile.add_forward("linear", seconds(2));
  profile.add_forward("gelu", seconds(8));
  profile.add_forward("linear", seconds(1));
  profile.add_backward("linear", seconds(4));
  profile.add_backward("linear", seconds(16));
  REQUIRE(profile.entries().size() == 2);
  const Profile::Entry& linear = profile.entries()[0];
  CHECK(linear.name == "linear");
  CHECK(linear.calls == 2);
  CHECK(linear.forward == 3);
  CHECK(linear.backward == 20);
  const Profile::Entry& gelu = profile.entries()[1];
  CHECK(gelu.name == "gelu");
  CHECK(gelu.calls == 1);
  CHECK(gelu.forward == 8);
  CHECK(gelu.backward == 0);
}

TEST_CASE("an op that only goes back has an entry of its own, and no calls") {
  Profile profile;
  profile.add_backward("linear", seconds(4));
  REQUIRE(profile.entries().size() == 1);
  CHECK(profile.entries()[0].calls == 0);
  CHECK(profile.entries()[0].forward == 0);
  CHECK(profile.entries()[0].backward == 4);
}

TEST_CASE("a name is known by its letters, wherever they are kept") {
  const std::string one = "linear";
  const std::string other = "linear";
  Profile profile;
  profile.add_forward(one, seconds(1));
  profile.add_forward(other, seconds(1));
  CHECK(profile.entries().size() == 1);
}

TEST_CASE("a profile adds all of another to itself, and keeps the order in which names came by") {
  Profile profile, other;
  profile.add_forward("linear", seconds(1));
  profile.add_backward("linear", seconds(2));
  other.add_forward("gelu", seconds(4));
  other.add_forward("linear", seconds(8));
  other.add_forward("linear", seconds(16));
  other.add_backward("linear", seconds(32));
  profile.add(other);
  REQUIRE(profile.entries().size() == 2);
  CHECK(profile.entries()[0].name == "linear");
  CHECK(profile.entries()[0].calls == 3);
  CHECK(profile.entries()[0].forward == 25);
  CHECK(profile.entries()[0].backward == 34);
  CHECK(profile.entries()[1].name == "gelu");
  CHECK(profile.entries()[1].calls == 1);
  CHECK(profile.entries()[1].forward == 4);
  CHECK(other.entries()[1].calls == 2);
}

}  // namespace tapehead
