#include "tapehead/train/fault_finder.h"

#include <limits>

#include "support/testing.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/nn/transformer.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

constexpr Real kHuge = std::numeric_limits<Real>::max();

/// Changes one number as a site comes by.
class Spoiler : public Watcher {
 public:
  Spoiler(const Site& site, Real number) : site_(site), number_(number) {}
  void check(const ModelConfig&) const override {}
  Variable visit(const Visit& at, const Variable& value) override {
    if (at.site != site_) return value;
    Tensor spoilt = value.value();
    spoilt.data()[0] = number_;
    return Variable(std::move(spoilt));
  }
  void finish(const std::vector<Site>&) const override {}

 private:
  Site site_;
  Real number_;
};

std::string finding_with(const Site& site, Real number) {
  const Transformer model({.vocabulary = 8, .context = 6, .width = 8, .heads = 2, .layers = 2}, 1);
  const Tokens tokens(2, 6, std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3});
  Tape tape;
  tape.look_for_fault();
  FaultFinder finder(tape);
  Spoiler spoiler(site, number);
  const Variable loss = cross_entropy(model(Pass(tape).watched_by({finder, spoiler}), tokens), tokens);
  tape.backward(loss);
  return finder.finding();
}

}  // namespace

TEST_CASE("where every number is finite nothing is found") { CHECK(finding_with(pattern(0), 1) == ""); }

TEST_CASE("the first op whose result is not finite is named with the site it leads to") {
  // A spoilt value is no op's result: the next op that reads it is the first.
  CHECK(finding_with(queries(0), -kHuge * 2) == finding_with(queries(0), kHuge * 2));
  CHECK(finding_with(queries(0), kHuge * 2) ==
        "attention_pattern, the op that leads to blocks.0.attention.pattern, made the first");
  CHECK(finding_with(head_output(1), kHuge * 2) ==
        "linear, the op that leads to blocks.1.attention.output, made the first");
}

TEST_CASE("a number that is finite and huge is found where it overflows") {
  CHECK(finding_with(values(0), kHuge).find("made the first") != std::string::npos);
}
