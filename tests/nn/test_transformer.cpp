#include "tapehead/nn/transformer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "support/modules.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/gradient_check.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Onlooker;
using testing::random_tokens;
using testing::same_bits;

using testing::kAttentionOnly;
using testing::kEverything;

/// Models that differ in every part.
std::vector<ModelConfig> every_kind() {
  std::vector<ModelConfig> configs{kAttentionOnly, kEverything};
  for (const Positions positions :
       {Positions::sinusoidal, Positions::rotary, Positions::alibi, Positions::none}) {
    configs.push_back(kEverything);
    configs.back().positions = positions;
    configs.back().gelu = GeluForm::tanh;
    configs.back().tied = positions == Positions::none;
  }
  for (ModelConfig& config : testing::other_options(kEverything)) configs.push_back(std::move(config));
  configs.push_back(kAttentionOnly);
  configs.back().layers = 0;
  return configs;
}

const Tokens kTokens = random_tokens(3, 6, 7, 1);

Tensor logits_of(const Transformer& model, const Tokens& tokens = kTokens, const Mask& visible = {}) {
  return model(Pass(), tokens, visible).value();
}

/// What an evaluation pass brings by each site.
Onlooker watched(const Transformer& model, const Tokens& tokens = kTokens) {
  Onlooker onlooker;
  model(Pass().watched_by({onlooker}), tokens);
  return onlooker;
}

/// The next-token loss with an ignored target and a repeated token.
Variable loss_of(const Transformer& model, Pass pass, const Mask& visible = {}) {
  Tokens targets = random_tokens(3, 6, 7, 2);
  targets(0, 0) = kIgnored;
  return cross_entropy(model(std::move(pass), kTokens, visible), targets);
}

/// One position of one sequence of (B, T, N).
Tensor position(const Tensor& x, Index b, Index t) {
  return slice(slice(Variable(x), 0, b, b + 1), 1, t, t + 1).value();
}

}  // namespace

DOUBLE_TEST_CASE("every kind of model passes the gradient check") {
  for (const ModelConfig& config : every_kind()) {
    Transformer model(config, 1);
    testing::shake(model.parameters());
    CAPTURE(testing::listing_of(model.parameters()));
    CHECK(gradient_check(model.parameters(), [&](Tape& tape) { return loss_of(model, Pass(tape)); }) < 1e-6);
  }
}

DOUBLE_TEST_CASE("every kind of model passes the gradient check with dropout at a fixed stream") {
  for (ModelConfig config : every_kind()) {
    if (config.attention == AttentionForm::tiled) continue;  // it has no weights to drop
    config.dropout = 0.3;
    Transformer model(config, 1);
    testing::shake(model.parameters());
    CHECK(gradient_check(model.parameters(), [&](Tape& tape) {
            return loss_of(model, Pass(tape, Generator(3, Purpose::dropout)));
          }) < 1e-6);
  }
}

DOUBLE_TEST_CASE("every kind of model passes the gradient check with a head zeroed, in either layer") {
  for (const ModelConfig& config : every_kind())
    for (const Index layer : {0, 1}) {
      Transformer model(config, 1);
      testing::shake(model.parameters());
      CHECK(gradient_check(model.parameters(), [&](Tape& tape) {
              Onlooker edit([&](const Visit& at, const Variable& value) {
                return at.site == head_output(layer) ? testing::without_head(value, 0, at.heads) : value;
              });
              return loss_of(model, Pass(tape).watched_by({edit}));
            }) < 1e-6);
    }
}

DOUBLE_TEST_CASE(
    "every kind of model passes the gradient check with padding, also where a query sees nothing") {
  const Mask visible(3, 6, {1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0});
  for (const ModelConfig& config : every_kind()) {
    Transformer model(config, 1);
    testing::shake(model.parameters());
    CHECK(gradient_check(model.parameters(),
                         [&](Tape& tape) { return loss_of(model, Pass(tape), visible); }) < 1e-6);
  }
}

TEST_CASE("a model is reproducible from its seed, and another seed gives another") {
  for (const ModelConfig& config : every_kind()) {
    const Tensor logits = logits_of(Transformer(config, 5));
    CHECK(same_bits(logits, logits_of(Transformer(config, 5))));
    CHECK(!same_bits(logits, logits_of(Transformer(config, 6))));
  }
}

TEST_CASE("changing a token changes nothing before it, and something from it on") {
  for (const ModelConfig& config : every_kind()) {
    const Transformer model(config, 1);
    const Tensor before = logits_of(model);
    for (Index changed = 0; changed < 6; ++changed) {
      CAPTURE(changed);
      Tokens tokens = kTokens;
      tokens(1, changed) = (tokens(1, changed) + 1) % 7;
      const Tensor after = logits_of(model, tokens);
      for (Index t = 0; t < 6; ++t) {
        CAPTURE(t);
        CHECK(same_bits(position(after, 0, t), position(before, 0, t)));
        if (t < changed) CHECK(same_bits(position(after, 1, t), position(before, 1, t)));
        if (t == changed) CHECK(!same_bits(position(after, 1, t), position(before, 1, t)));
      }
    }
  }
}

TEST_CASE("a prefix, and a sequence alone, get the logits that they get within a batch") {
  const Transformer model(kEverything, 1);
  const Tensor whole = logits_of(model);
  Tokens prefix(1, 4);
  for (Index t = 0; t < 4; ++t) prefix(0, t) = kTokens(2, t);
  check_close(logits_of(model, prefix), slice(slice(Variable(whole), 0, 2, 3), 1, 0, 4).value());
}

TEST_CASE("evaluation never drops, and comes to the same bits every time") {
  ModelConfig dropping = kEverything;
  dropping.dropout = 0.5;
  ModelConfig plain = kEverything;
  plain.dropout = 0;
  const Transformer model(dropping, 1);
  const Tensor logits = logits_of(model);
  CHECK(same_bits(logits, logits_of(model)));
  CHECK(same_bits(logits, logits_of(Transformer(plain, 1))));
  Tape tape;
  CHECK(same_bits(logits, model(Pass(tape), kTokens).value()));
  Onlooker onlooker;
  CHECK(same_bits(logits, model(Pass().watched_by({onlooker}), kTokens).value()));
}

TEST_CASE("dropout is decided by its stream alone") {
  const Transformer model(kEverything, 1);
  const auto logits = [&](Index step) {
    Tape tape;
    return model(Pass(tape, Generator(1, Purpose::dropout, step)), kTokens).value();
  };
  CHECK(same_bits(logits(0), logits(0)));
  CHECK(!same_bits(logits(0), logits(1)));
  CHECK(!same_bits(logits(0), logits_of(model)));
}

TEST_CASE("dropout reaches the embedding and every branch") {
  ModelConfig config = kEverything;
  config.dropout = 1;
  const Transformer model(config, 1);
  Onlooker onlooker;
  Tape tape;
  model(Pass(tape, Generator(1, Purpose::dropout)).watched_by({onlooker}), kTokens);
  for (const Site& site : {embedding_site(), residual_after(0), residual_after(1)})
    check_close(onlooker.seen_at(site), Tensor(Shape{3, 6, 8}), 0);
}

TEST_CASE("a forward pass comes by every site of its model, in order, with the shapes they promise") {
  for (const ModelConfig& config : every_kind()) {
    const Onlooker onlooker = watched(Transformer(config, 1));
    CHECK(onlooker.sites() == sites_of(config));
    CHECK(onlooker.seen_at(embedding_site()).shape() == Shape{3, 6, 8});
    CHECK(onlooker.seen_at(logits_site()).shape() == Shape{3, 6, 7});
    if (config.layers > 0 && holds_patterns(config))
      CHECK(onlooker.seen_at(pattern(1)).shape() == Shape{3, 2, 6, 6});
  }
}

TEST_CASE("the residual stream is the embedding plus everything that every layer wrote") {
  const Onlooker onlooker = watched(Transformer(kEverything, 1));
  Variable total(onlooker.seen_at(embedding_site()));
  for (const Index layer : {0, 1})
    total = total + Variable(onlooker.seen_at(attention_output(layer))) +
            Variable(onlooker.seen_at(feed_forward_output(layer)));
  check_close(onlooker.seen_at(residual_after(1)), total.value());
  CHECK(same_bits(onlooker.seen_at(residual_before(1)), onlooker.seen_at(residual_after(0))));
}

TEST_CASE("what is read out is the stream after the last block, through the final norm if there is one") {
  const Transformer plain(kAttentionOnly, 1);
  const Onlooker unnormed = watched(plain);
  CHECK(same_bits(unnormed.seen_at(final_residual()), unnormed.seen_at(residual_after(1))));
  Transformer model(kEverything, 1);
  testing::shake(model.parameters());
  const Onlooker normed = watched(model);
  check_close(normed.seen_at(final_residual()),
              layer_norm(Variable(normed.seen_at(residual_after(1))),
                         constant(model.parameters().find("final_norm.gain")),
                         constant(model.parameters().find("final_norm.bias")), Real(1e-5))
                  .value());
}

TEST_CASE("a zeroed head leaves what a model computes whose output projection ignores it") {
  const Transformer model(kEverything, 1);
  const Onlooker plain = watched(model);
  Onlooker edit([](const Visit& at, const Variable& value) {
    return at.site == head_output(1) ? testing::without_head(value, 0, at.heads) : value;
  });
  const Tensor edited = model(Pass().watched_by({edit}), kTokens).value();
  Transformer deaf(kEverything, 1);
  const Parameter weight = deaf.parameters().find("blocks.1.attention.output.weight");
  for (Index row = 0; row < 8; ++row)
    for (Index column = 0; column < 4; ++column)
      deaf.parameters().change()[static_cast<std::size_t>(weight.offset + 8 * row + column)] = 0;
  check_close(edited, logits_of(deaf));
  CHECK(!same_bits(edited, logits_of(model)));
  for (const Site& site : {residual_after(0), pattern(1), values(1), head_output(1)})
    CHECK(same_bits(edit.seen_at(site), plain.seen_at(site)));
}

TEST_CASE("padding is hidden from every query, whatever token it holds") {
  const Transformer model(kEverything, 1);
  const Mask visible(3, 6, {1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1});
  const Tensor before = logits_of(model, kTokens, visible);
  Tokens tokens = kTokens;
  tokens(1, 2) = (tokens(1, 2) + 1) % 7;
  const Tensor after = logits_of(model, tokens, visible);
  for (Index t = 0; t < 6; ++t) CHECK(same_bits(position(after, 1, t), position(before, 1, t)) == (t != 2));
  for (const Real logit : before.values()) CHECK(std::isfinite(logit));
  CHECK(same_bits(position(before, 0, 5), position(logits_of(model), 0, 5)));
  CHECK_THROWS_AS(logits_of(model, kTokens, Mask(3, 5, 1)), Error);
}

TEST_CASE("learned positions are rows of their table, sinusoidal ones sines and cosines, and none nothing") {
  const auto added = [](Positions positions) {
    ModelConfig config = kAttentionOnly;
    config.positions = positions;
    const Transformer model(config, 1);
    const Variable tokens = embedding(constant(model.parameters().find("embedding.weight")), kTokens);
    const Tensor difference = (Variable(watched(model).seen_at(embedding_site())) - tokens).value();
    for (Index t = 0; t < 6; ++t) check_close(position(difference, 2, t), position(difference, 0, t));
    return slice(Variable(difference), 0, 0, 1).value().reshaped({6, 8});
  };
  const Transformer learned(kAttentionOnly, 1);
  check_close(added(Positions::learned), constant(learned.parameters().find("positions.weight")).value());
  const Tensor waves = added(Positions::sinusoidal);
  for (Index t = 0; t < 6; ++t)
    for (Index i = 0; i < 4; ++i) {
      const double angle = static_cast<double>(t) / std::pow(10000, static_cast<double>(i) / 4);
      CHECK(std::abs(static_cast<double>(waves(t, 2 * i)) - std::sin(angle)) < 1e-6);
      CHECK(std::abs(static_cast<double>(waves(t, 2 * i + 1)) - std::cos(angle)) < 1e-6);
    }
  check_close(added(Positions::none), Tensor(Shape{6, 8}), 0);
}

TEST_CASE("padding on the left changes no logits, in any kind of model") {
  for (const ModelConfig& config : every_kind()) {
    Transformer model(config, 1);
    testing::shake(model.parameters());
    const Tensor plain = logits_of(model, kTokens.rows(0, 1));
    for (const Index padding : {1, 3}) {
      const Index count = 6 - padding;
      Tokens padded(2, 6, 0);
      Mask visible(2, 6, 0);
      for (Index t = 0; t < count; ++t) {
        padded(0, padding + t) = kTokens(0, t);
        padded(1, t) = kTokens(0, t);  // and on the right, beside it
        visible(0, padding + t) = visible(1, t) = 1;
      }
      const Tensor logits = logits_of(model, padded, visible);
      for (Index t = 0; t < count; ++t) {
        check_close(position(logits, 0, padding + t), position(plain, 0, t), 10 * testing::kRounding);
        check_close(position(logits, 1, t), position(plain, 0, t), 10 * testing::kRounding);
      }
    }
  }
}

TEST_CASE("without positions one layer cannot tell the order of what came before") {
  ModelConfig config = kAttentionOnly;
  config.layers = 1;
  const Tokens order(1, 4, {1, 2, 3, 0});
  const Tokens other_order(1, 4, {3, 1, 2, 0});
  const auto last = [&](const Tokens& tokens) {
    return position(logits_of(Transformer(config, 1), tokens), 0, 3);
  };
  CHECK(!same_bits(last(order), last(other_order)));
  config.positions = Positions::none;
  check_close(last(order), last(other_order));
}

TEST_CASE("a tied model reads out with its embedding, and the table gets both gradients") {
  ModelConfig config = kAttentionOnly;
  config.tied = true;
  Transformer model(config, 1);
  const Onlooker onlooker = watched(model);
  const Parameter table = model.parameters().find("embedding.weight");
  check_close(onlooker.seen_at(logits_site()),
              matmul(Variable(onlooker.seen_at(final_residual())), transpose(constant(table), 0, 1)).value());
  // A token that never comes in still gets a gradient, from the read-out.
  Tape tape;
  const Gradients gradients =
      tape.backward(cross_entropy(model(Pass(tape), Tokens(1, 2, {0, 1})), Tokens(1, 2, {1, 0})));
  for (Index id = 0; id < 7; ++id) CHECK(gradients(table.offset + 8 * id) != 0);
}

TEST_CASE("an untrained model starts near log V") {
  ModelConfig config = kEverything;
  config.vocabulary = 8;
  const Transformer model(config, 1);
  const Tokens tokens = random_tokens(8, 6, 8, 1);
  const Tokens targets = random_tokens(8, 6, 8, 2);
  CHECK(cross_entropy(model(Pass(), tokens), targets).item() == doctest::Approx(2.079442).epsilon(0.02));
}

TEST_CASE("positions past the context are refused, and the last one within it is not") {
  const Transformer model(kAttentionOnly, 1);
  CHECK_NOTHROW(logits_of(model, Tokens(1, 6)));
  CHECK_THROWS_WITH_AS(logits_of(model, Tokens(1, 7)),
                       "[model] 7 positions are more than the context of 6; cut the sequence or train with a "
                       "longer context",
                       Error);
  for (const Tokens& empty : {Tokens(1, 0), Tokens(0, 3), Tokens()})
    CHECK_THROWS_AS(logits_of(model, empty), Error);
}

TEST_CASE("ids outside the vocabulary are refused") {
  const Transformer model(kAttentionOnly, 1);
  CHECK_NOTHROW(logits_of(model, Tokens(1, 2, {0, 6})));
  CHECK_THROWS_WITH_AS(logits_of(model, Tokens(1, 2, {0, 7})),
                       "[embedding] expected token ids between 0 and 6, got 7", Error);
  CHECK_THROWS_AS(logits_of(model, Tokens(1, 2, {0, -1})), Error);
}

TEST_CASE("what entered a layer is enough to go on from, to the same bits") {
  const Mask visible(3, 6, {1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1});
  for (const ModelConfig& config : every_kind()) {
    const Transformer model(config, 3);
    Onlooker onlooker;
    const Tensor logits = model(Pass().watched_by({onlooker}), kTokens, visible).value();
    for (Index layer = 0; layer <= config.layers; ++layer) {
      CAPTURE(layer);
      const Site entrance = layer < config.layers ? residual_before(layer)
                            : layer == 0          ? embedding_site()
                                                  : residual_after(layer - 1);
      const Variable residual(onlooker.seen_at(entrance));
      CHECK(same_bits(model.from_layer(Pass(), layer, residual, visible).value(), logits));
    }
  }
}

TEST_CASE("a pass from a layer on does not come by the sites below") {
  const Transformer model(kEverything, 3);
  const Onlooker whole = watched(model);
  Onlooker upper;
  model.from_layer(Pass().watched_by({upper}), 1, Variable(whole.seen_at(residual_before(1))));
  CHECK(upper.sites().front() == residual_before(1));
  CHECK(upper.sites().back() == logits_site());
  CHECK(upper.sites().size() < whole.sites().size());
}

TEST_CASE("a pass from a layer that is not there, or from a residual that does not fit, is refused") {
  const Transformer model(kAttentionOnly, 3);
  const Index width = kAttentionOnly.width;
  const Variable residual(Tensor({1, 2, width}));
  CHECK_THROWS_WITH_AS(model.from_layer(Pass(), kAttentionOnly.layers + 1, residual),
                       doctest::Contains("[model] expected a layer between 0 and"), Error);
  CHECK_THROWS_AS(model.from_layer(Pass(), -1, residual), Error);
  for (const Shape& shape : {Shape{2, width}, Shape{1, 2, width + 1}, Shape{0, 2, width}, Shape{1, 0, width},
                             Shape{1, kAttentionOnly.context + 1, width}}) {
    CAPTURE(to_string(shape));
    CHECK_THROWS_WITH_AS(model.from_layer(Pass(), 0, Variable(Tensor(shape))),
                         doctest::Contains("[model] expected a residual (B, T,"), Error);
  }
  for (const Index layer : {Index{0}, kAttentionOnly.layers})
    CHECK_THROWS_WITH_AS(model.from_layer(Pass(), layer, residual, Mask(1, 3, 1)),
                         doctest::Contains("expected a padding mask (1, 2), got (1, 3)"), Error);
}

TEST_CASE("a model can be moved, and goes on as before") {
  Transformer model(kEverything, 1);
  const Tensor before = logits_of(model);
  const Transformer moved = std::move(model);
  CHECK(same_bits(logits_of(moved), before));
  Tape tape;
  CHECK(tape.backward(loss_of(moved, Pass(tape))).count() == moved.parameters().count());
}

TEST_CASE("the formula for the number of parameters gives how many there are") {
  for (ModelConfig config : every_kind())
    for (const int options : {0, 1, 2, 3, 4, 5, 6, 7}) {
      config.bias = (options & 1) != 0;
      config.qkv_bias = (options & 2) != 0;
      if ((options & 4) != 0) config.norm = NormKind::none;
      CHECK(count_parameters(config) == static_cast<double>(Transformer(config, 1).parameters().count()));
    }
}

TEST_CASE("a model that no memory holds is refused before there is room made for it") {
  for (const auto& [layers, width] : {std::pair<Index, Index>{1'000'000'000, 64}, {2, 1'000'000'000}}) {
    const ModelConfig config{.width = width, .layers = layers};
    CHECK(testing::failure_of([&] { Transformer(config, 1); }).find("for their parameters alone") !=
          std::string::npos);
  }
  const ModelConfig long_text{.context = 1'000'000'000'000, .positions = Positions::sinusoidal};
  CHECK(
      testing::failure_of([&] { Transformer(long_text, 1); }).starts_with("[model] vocabulary 64, context "));
}

}  // namespace tapehead
