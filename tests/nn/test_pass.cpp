#include "tapehead/nn/pass.h"

#include <stdexcept>

#include "support/modules.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/transformer.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Onlooker;
using testing::same_bits;

const ModelConfig kConfig{.vocabulary = 7, .context = 6, .width = 8, .heads = 2, .layers = 2};
const Tokens kTokens = testing::random_tokens(3, 6, 7, 1);

Variable number(Real value) { return Variable(Tensor({}, {value})); }

/// Writes down what is asked of it.
class Diary : public Watcher {
 public:
  void check(const ModelConfig& config) const override { heads = config.heads; }
  Variable visit(const Visit& at, const Variable& value) override {
    visits.push_back(at);
    return value;
  }
  void finish(const std::vector<Site>& visited) const override { finished = visited; }

  std::vector<Visit> visits;
  mutable Index heads = 0;
  mutable std::vector<Site> finished;
};

}  // namespace

TEST_CASE("an unwatched pass hands every value on as it is") {
  Pass pass;
  const Variable x = number(3);
  CHECK(pass.at(logits_site(), x).data() == x.data());
}

TEST_CASE("an evaluation pass records nothing, and a pass with a tape records the parameters") {
  Parameters parameters;
  const Parameter weight = parameters.add("weight", {2}, Start::constant(3));
  parameters.initialise(1);
  Tape tape;
  CHECK(!Pass().parameter(weight).is_recorded());
  CHECK(Pass(tape).parameter(weight).tape() == &tape);
  CHECK(Pass().dropout() == nullptr);
  CHECK(Pass(tape).dropout() == nullptr);
  CHECK(Pass(tape, Generator(1)).dropout() != nullptr);
}

TEST_CASE("watchers see a value one after the other, each what the last one made of it") {
  Onlooker first([](const Visit&, const Variable& value) { return value + number(1); });
  Onlooker second([](const Visit&, const Variable& value) { return scale(value, 10); });
  Pass pass = Pass().watched_by({first, second});
  CHECK(pass.at(logits_site(), number(2)).item() == 30);
  CHECK(first.seen_at(logits_site())() == 2);
  CHECK(second.seen_at(logits_site())() == 3);
}

TEST_CASE("a watcher is told the model, the site, the heads and where its sequences lie, and what came by") {
  Diary diary;
  Pass pass = Pass().watched_by({diary}, 24);
  pass.begin({.heads = 3});
  CHECK(diary.heads == 3);
  pass.at(pattern(1), number(2));
  pass.at(logits_site(), number(2));
  CHECK(diary.finished.empty());
  pass.end();
  CHECK(diary.finished == std::vector<Site>{pattern(1), logits_site()});
  REQUIRE(diary.visits.size() == 2);
  CHECK(diary.visits[0].site == pattern(1));
  CHECK(diary.visits[0].heads == 3);
  CHECK(diary.visits[0].first_sequence == 24);
}

TEST_CASE("a watcher that returns another shape, or nothing, is refused by the site's name") {
  Onlooker wrong([](const Visit&, const Variable& value) { return reshape(value, {1, 2}); });
  Onlooker nothing([](const Visit&, const Variable&) { return Variable(); });
  const Variable x(Tensor({2}, {1, 2}));
  Pass pass = Pass().watched_by({wrong});
  CHECK_THROWS_WITH_AS(
      pass.at(head_output(1), x),
      "[pass] a watcher of blocks.1.attention.head_output must keep its shape (2), it returned (1, 2)",
      Error);
  Pass other = Pass().watched_by({nothing});
  CHECK_THROWS_AS(other.at(head_output(1), x), Error);
}

TEST_CASE("a change made by ops passes its gradient on") {
  Onlooker tripled([](const Visit&, const Variable& value) { return scale(value, 3); });
  Tape tape;
  Pass pass = Pass(tape).watched_by({tripled});
  const Variable x = tape.variable(Tensor({2}, {1, 2}));
  tape.backward(sum(pass.at(logits_site(), x)));
  check_close(x.gradient(), {2}, {3, 3}, 0);
}

TEST_CASE("a model asks its watchers before a pass, and tells them at the end what came by") {
  class Refusing : public Onlooker {
   public:
    void check(const ModelConfig&) const override { throw Error("not this model"); }
  };
  const Transformer model(kConfig, 1);
  Diary diary;
  model(Pass().watched_by({diary}), kTokens);
  CHECK(diary.heads == 2);
  CHECK(diary.finished == sites_of(kConfig));
  Refusing refusing;
  CHECK_THROWS_WITH_AS(model(Pass().watched_by({refusing}), kTokens), "not this model", Error);
  CHECK(refusing.sites().empty());
}

TEST_CASE("a watcher that throws leaves nothing behind") {
  const Transformer model(kConfig, 1);
  const auto plain = [&] { return model(Pass(), kTokens).value(); };
  const auto gradients_on = [&](Tape& tape) {
    return tape.backward(testing::weighed(model(Pass(tape), kTokens)));
  };
  Tape fresh;
  const Tensor logits = plain();
  const Gradients gradients = gradients_on(fresh);
  Onlooker broken([](const Visit& at, const Variable& value) {
    if (at.site == head_output(1)) throw std::runtime_error("broken");
    return scale(value, 2);
  });
  Tape tape;
  CHECK_THROWS_WITH_AS(model(Pass().watched_by({broken}), kTokens), "broken", std::runtime_error);
  CHECK_THROWS_WITH_AS(model(Pass(tape).watched_by({broken}), kTokens), "broken", std::runtime_error);
  CHECK(same_bits(plain(), logits));
  CHECK(same_bits(gradients_on(tape), gradients));
}

TEST_CASE("what a watcher saw is not changed by what comes after it, nor is the next pass") {
  const Transformer model(kConfig, 1);
  Onlooker before, reader, last, after;
  Onlooker zeroed([](const Visit& at, const Variable& value) {
    return at.site == head_output(0) ? scale(value, 0) : value;
  });
  model(Pass().watched_by({before}), kTokens);
  model(Pass().watched_by({reader, zeroed, last}), kTokens);
  model(Pass().watched_by({after}), kTokens);
  const Site site = head_output(0);
  CHECK(same_bits(reader.seen_at(site), before.seen_at(site)));
  check_close(last.seen_at(site), Tensor(Shape{3, 6, 8}), 0);
  for (const Site& anywhere : sites_of(kConfig))
    CHECK(same_bits(after.seen_at(anywhere), before.seen_at(anywhere)));
}

}  // namespace tapehead
