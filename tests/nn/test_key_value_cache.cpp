#include "tapehead/nn/key_value_cache.h"

#include <limits>
#include <stdexcept>
#include <vector>

#include "support/models.h"
#include "support/modules.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/nn/edits.h"
#include "tapehead/nn/recorder.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::complaint_of;
using testing::failure_of;
using testing::kAttentionOnly;
using testing::kEverything;
using testing::random_model;
using testing::random_tokens;
using testing::same_bits;

const Index kContext = kEverything.context;
const Tokens kText = random_tokens(1, kContext, 7, 1);

std::vector<ModelConfig> every_kind() {
  std::vector<ModelConfig> configs{kAttentionOnly, kEverything};
  for (const Positions positions :
       {Positions::sinusoidal, Positions::rotary, Positions::alibi, Positions::none}) {
    configs.push_back(kEverything);
    configs.back().positions = positions;
  }
  for (ModelConfig& config : testing::other_options(kEverything)) configs.push_back(std::move(config));
  return configs;
}

Tokens part(Index first, Index count) {
  Tokens tokens(1, count);
  for (Index t = 0; t < count; ++t) tokens(0, t) = kText(0, first + t);
  return tokens;
}

/// The logits of positions first, ..., first + count - 1 of all (1, T, V).
Tensor rows(const Tensor& all, Index first, Index count) {
  return slice(Variable(all), 1, first, first + count).value();
}

Tensor read(const Transformer& model, KeyValueCache& cache, const Tokens& tokens, const Watch& watch = {}) {
  return model(Pass().reading_on(cache).watched_by(watch), tokens).value();
}

/// Throws at one site.
class Thrower : public Watcher {
 public:
  void check(const ModelConfig&) const override {}
  Variable visit(const Visit& at, const Variable& value) override {
    if (at.site == values(1)) throw std::runtime_error("enough");
    return value;
  }
  void finish(const std::vector<Site>&) const override {}
};

}  // namespace

TEST_CASE("a text that is read in parts has the logits of the text read at once, at every position") {
  for (const ModelConfig& config : every_kind()) {
    const Transformer model = random_model(config);
    const Tensor at_once = model(Pass(), kText).value();
    for (const std::vector<Index>& parts :
         {std::vector<Index>{6}, {1, 1, 1, 1, 1, 1}, {3, 3}, {2, 1, 3}, {5, 1}, {1, 5}}) {
      KeyValueCache cache(config);
      for (const Index count : parts) {
        const Index first = cache.length();
        check_close(read(model, cache, part(first, count)), rows(at_once, first, count), 1e-5);
      }
      CHECK(cache.length() == kContext);
    }
  }
}

TEST_CASE("a cache that was cleared is a fresh one") {
  const Transformer model = random_model(kEverything);
  KeyValueCache cache(model.config());
  read(model, cache, part(2, 3));
  cache.clear();
  CHECK(cache.length() == 0);
  KeyValueCache fresh(model.config());
  CHECK(same_bits(read(model, cache, part(0, 2)), read(model, fresh, part(0, 2))));
}

TEST_CASE("more positions than the context are refused, and nothing counts as read") {
  const Transformer model = random_model(kAttentionOnly);
  KeyValueCache cache(model.config());
  read(model, cache, part(0, 4));
  CHECK(
      failure_of([&] { read(model, cache, part(0, 3)); }) ==
      "[model] 7 positions are more than the context of 6; cut the sequence or train with a longer context");
  CHECK(cache.length() == 4);
  check_close(read(model, cache, part(4, 2)), rows(model(Pass(), kText).value(), 4, 2), 1e-5);
}

TEST_CASE("a pass that fails has read nothing") {
  const Transformer model = random_model(kAttentionOnly);
  KeyValueCache cache(model.config());
  read(model, cache, part(0, 2));
  Thrower thrower;
  CHECK_THROWS_AS(read(model, cache, part(3, 2), {thrower}), std::runtime_error);
  CHECK(cache.length() == 2);
  check_close(read(model, cache, part(2, 4)), rows(model(Pass(), kText).value(), 2, 4), 1e-5);
}

TEST_CASE("edits and recorders see a text that is read on as they see any") {
  const Transformer model = random_model(kEverything);
  Edits edits;
  edits.zero(head_output(0, 1));
  edits.zero(pattern(1, 0));
  const Tensor at_once = model(Pass().watched_by({edits}), kText).value();
  KeyValueCache cache(model.config());
  read(model, cache, part(0, 4), {edits});
  check_close(read(model, cache, part(4, 2), {edits}), rows(at_once, 4, 2), 1e-5);
}

TEST_CASE("a cache reads one text, without a tape, from the start of the model on") {
  const Transformer model = random_model(kAttentionOnly);
  KeyValueCache cache(model.config());
  CHECK(failure_of([&] { read(model, cache, random_tokens(2, 3, 7, 1)); }) ==
        "[cache] expected keys and values (1, T, 8) of one text, got (2, 3, 8)");
  Tape tape;
  CHECK(failure_of([&] { Pass(tape).reading_on(cache); }) ==
        "[pass] what was read before is on no tape: a pass that reads on cannot record");
  CHECK(failure_of([&] {
          model.from_layer(Pass().reading_on(cache), 1, Variable(Tensor({1, 2, 8})));
        }) == "[model] the upper part of a pass cannot read on: what lies below is not there");
  CHECK(cache.length() == 0);
}

}  // namespace tapehead
