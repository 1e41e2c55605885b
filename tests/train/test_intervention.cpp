#include "tapehead/train/intervention.h"

#include <vector>

#include "support/functions.h"
#include "support/models.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/gradient_check.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/train/evaluate.h"
#include "tapehead/train/trainer.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

const char* const kHeadOutput = "blocks.0.attention.head_output";
const char* const kPattern = "blocks.0.attention.pattern";

/// One of every kind, on one head and on all.
std::vector<Intervention> every_kind() {
  std::vector<Intervention> list;
  for (const Index head : {Index{-1}, Index{1}}) {
    list.push_back({.site = kHeadOutput, .head = head, .kind = "zero"});
    list.push_back({.site = "blocks.1.attention.values", .head = head, .kind = "scale", .factor = -0.5});
    list.push_back({.site = "blocks.1.attention.keys", .head = head, .kind = "mean"});
    list.push_back({.site = kPattern, .head = head, .kind = "mean"});
    list.push_back({.site = kPattern, .head = head, .kind = "uniform"});
    list.push_back({.site = kPattern, .head = head, .kind = "previous_token"});
  }
  return list;
}

Edits edits_of(const Intervention& intervention) {
  Edits edits;
  add_intervention(edits, intervention);
  return edits;
}

/// What is at the site of an intervention, before it acts and after.
struct Seen {
  Tensor before;
  Tensor after;
};
Seen seen_at(const Intervention& intervention, const Transformer& model, const Tokens& tokens) {
  const Site site = parse_site(intervention.site);
  Recorder before({site});
  Recorder after({site});
  Edits edits = edits_of(intervention);
  model(Pass().watched_by({before, edits, after}), tokens);
  return {before.at(site), after.at(site)};
}

/// The number at sequence b, head h, query q and key k.
Real at(const Tensor& pattern, Index b, Index h, Index q, Index k) {
  const Shape& shape = pattern.shape();
  return pattern.data()[((b * shape[1] + h) * shape[2] + q) * shape[3] + k];
}

/// A few steps of training under one intervention.
Config clamped_config(const Intervention& intervention) {
  Config config = tiny_config();
  config.interventions = {intervention};
  return config;
}

}  // namespace

TEST_CASE("uniform puts even causal attention into a pattern, and previous_token all weight on q - 1") {
  const Transformer model = random_model(attention_only());
  const Tokens tokens = random_tokens(3, 5, model.config().vocabulary, 1);
  const Tensor even = seen_at({.site = kPattern, .kind = "uniform"}, model, tokens).after;
  const Tensor back = seen_at({.site = kPattern, .kind = "previous_token"}, model, tokens).after;
  for (Index b = 0; b < 3; ++b)
    for (Index h = 0; h < 2; ++h)
      for (Index q = 0; q < 5; ++q)
        for (Index k = 0; k < 5; ++k) {
          CHECK(at(even, b, h, q, k) == (k <= q ? Real{1} / static_cast<Real>(q + 1) : Real{0}));
          CHECK(at(back, b, h, q, k) == (k == (q == 0 ? 0 : q - 1) ? Real{1} : Real{0}));
        }
}

TEST_CASE("mean puts the mean over the sequences of a pass there, position by position") {
  const Transformer model = random_model(attention_only());
  const Tokens tokens = random_tokens(3, 5, model.config().vocabulary, 1);
  const auto [before, after] = seen_at({.site = "blocks.1.attention.keys", .kind = "mean"}, model, tokens);
  const Index count = before.count() / 3;
  for (Index i = 0; i < before.count(); ++i) {
    double sum = 0;
    for (Index b = 0; b < 3; ++b) sum += static_cast<double>(before.data()[b * count + i % count]);
    CHECK(static_cast<double>(after.data()[i]) == doctest::Approx(sum / 3).epsilon(1e-5));
  }
}

TEST_CASE("an intervention acts from its first step up to its last, and is said in a line") {
  Intervention one{.site = "blocks.0.attention.head_output", .head = 1, .kind = "zero", .from = 3, .to = 5};
  CHECK_FALSE(acts_at(one, 2));
  CHECK(acts_at(one, 3));
  CHECK(acts_at(one, 4));
  CHECK_FALSE(acts_at(one, 5));
  CHECK(in_words(one) == "zero at blocks.0.attention.head_output head 1, from step 3 to 5");
  one.head = kAllHeads;
  one.to = -1;
  CHECK(acts_at(one, 1000));
  CHECK(in_words(one) == "zero at blocks.0.attention.head_output, from step 3");
}

TEST_CASE("zero puts zeros there, and scale the value times the factor") {
  const Transformer model = random_model(attention_only());
  const Tokens tokens = random_tokens(2, 5, model.config().vocabulary, 1);
  const Tensor zeros = seen_at({.site = kHeadOutput, .kind = "zero"}, model, tokens).after;
  for (Index i = 0; i < zeros.count(); ++i) CHECK(zeros.data()[i] == 0);
  const auto [before, after] = seen_at({.site = kHeadOutput, .kind = "scale", .factor = -0.5}, model, tokens);
  for (Index i = 0; i < before.count(); ++i) CHECK(after.data()[i] == before.data()[i] * Real{-0.5});
}

TEST_CASE("an intervention on one head leaves the others as they are") {
  const Transformer model = random_model(attention_only());
  const Tokens tokens = random_tokens(2, 5, model.config().vocabulary, 1);
  for (Intervention one : every_kind()) {
    if (one.head == -1) continue;
    CAPTURE(one.kind);
    CAPTURE(one.site);
    const auto [before, after] = seen_at(one, model, tokens);
    const bool is_pattern = one.site == kPattern;
    const Index run = is_pattern ? 5 * 5 : model.config().width / 2;
    Index changed = 0;
    for (Index i = 0; i < before.count(); ++i) {
      if (i / run % 2 == 0) CHECK(after.data()[i] == before.data()[i]);
      changed += after.data()[i] != before.data()[i];
    }
    CHECK(changed > 0);
  }
}

DOUBLE_TEST_CASE("gradients of a whole model are right under every kind of intervention") {
  ModelConfig config = everything_on();
  config.width = 16;  // layer norm over fewer numbers bends too much for finite differences
  Transformer model(config, 1);
  const Tokens inputs = random_tokens(3, 6, model.config().vocabulary, 1);
  const Tokens targets = random_tokens(3, 6, model.config().vocabulary, 2);
  for (const Intervention& one : every_kind()) {
    CAPTURE(one.kind);
    CAPTURE(one.site);
    CAPTURE(one.head);
    const auto loss = [&](Tape& tape) {
      Edits edits = edits_of(one);
      return cross_entropy(model(Pass(tape).watched_by({edits}), inputs), targets);
    };
    CHECK(gradient_check(model.parameters(), loss) < 1e-6);
  }
}

TEST_CASE("an intervention acts from its first step up to the one that is its end") {
  Config config = tiny_config();
  config.interventions = {{.site = kHeadOutput, .from = 3, .to = 5}, {.site = kPattern, .from = 7}};
  std::vector<bool> acts;
  for (Index step = 0; step < 9; ++step) acts.push_back(!interventions_at(config, step).empty());
  CHECK(acts == std::vector<bool>{false, false, false, true, true, false, false, true, true});
}

TEST_CASE("training is the same to the bit until an intervention begins, and another from there on") {
  Config config = tiny_config();
  Trainer plain(config, 1);
  Trainer clamped(clamped_config({.site = kHeadOutput, .head = 0, .from = 2, .to = 4}), 1);
  for (Index step = 0; step < 6; ++step) {
    CHECK(same_bits(plain, clamped) == (step <= 2));
    CHECK(clamped.interventions().empty() == (step < 2 || step >= 4));
    plain.advance();
    clamped.advance();
  }
}

TEST_CASE("training under every kind of intervention has the same bits on any number of threads") {
  for (const Intervention& one : every_kind()) {
    CAPTURE(one.kind);
    CAPTURE(one.site);
    Trainer alone(clamped_config(one), 1);
    Trainer several(clamped_config(one), 3);
    Trainer plain(tiny_config(), 1);
    for (int i = 0; i < 3; ++i)
      for (Trainer* trainer : {&alone, &several, &plain}) trainer->advance();
    CHECK(same_bits(alone, several));
    CHECK_FALSE(same_bits(alone, plain));
  }
}

TEST_CASE("a mean of a training step is over the sequences of a shard") {
  Config config = clamped_config({.site = "blocks.0.attention.keys", .kind = "mean"});
  config.model.dropout = 0;
  config.train.shard = 1;
  Config plain = config;
  plain.interventions = {};
  Trainer clamped(config, 1);
  // The mean over one sequence is the sequence.
  CHECK(clamped.advance().loss == doctest::Approx(Trainer(plain, 1).advance().loss).epsilon(1e-6));
  config.train.shard = plain.train.shard = 7;
  CHECK(Trainer(config, 1).advance().loss != doctest::Approx(Trainer(plain, 1).advance().loss).epsilon(1e-6));
}

TEST_CASE("parameters behind a layer that is cut off get no gradient, and the others learn") {
  Config config = clamped_config({.site = kHeadOutput});
  config.train.weight_decay = 0;
  Trainer trainer(config, 1);
  const Transformer fresh(config.model, config.train.initialisation_seed);
  trainer.advance();
  const Tensor moved = parameter_value(trainer.model(), "blocks.0.attention.qkv.weight");
  CHECK(same_bits(moved, parameter_value(fresh, "blocks.0.attention.qkv.weight")));
  CHECK_FALSE(same_bits(parameter_value(trainer.model(), "blocks.1.attention.qkv.weight"),
                        parameter_value(fresh, "blocks.1.attention.qkv.weight")));
}

TEST_CASE("watchers of an edited pass see it as changed, and no edits leave the watch as it is") {
  const Transformer model = random_model(attention_only());
  const Tokens tokens = random_tokens(2, 5, model.config().vocabulary, 1);
  Recorder recorder({head_output(0)});
  Edits edits = edits_of({.site = kHeadOutput});
  model(Pass().watched_by(edited(edits, {recorder})), tokens);
  CHECK(same_bits(recorder.at(head_output(0)), Tensor(Shape{2, 5, model.config().width})));
  Edits none;
  CHECK(edited(none, {}).empty());
}
