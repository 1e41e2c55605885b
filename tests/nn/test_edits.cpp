#include "tapehead/nn/edits.h"

#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>

#include "support/functions.h"
#include "support/models.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/gradient_check.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/train/evaluate.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// What came by one site in a plain pass with these edits made first.
Tensor seen(const Transformer& model, const Tokens& tokens, const Site& site, Edits& edits) {
  Recorder recorder({site});
  model(Pass().watched_by({edits, recorder}), tokens);
  return recorder.at(site);
}

Tensor seen(const Transformer& model, const Tokens& tokens, const Site& site) {
  Edits none;
  return seen(model, tokens, site, none);
}

Tensor logits_of(const Transformer& model, const Tokens& tokens) { return model(Pass(), tokens).value(); }

Tensor logits_of(const Transformer& model, const Tokens& tokens, Edits& edits) {
  return model(Pass().watched_by({edits}), tokens).value();
}

/// These sequences with targets of no meaning.
Batch batch_of(const Tokens& inputs) {
  Batch batch = noise_batch(inputs.batch(), inputs.length());
  batch.inputs = inputs;
  return batch;
}

/// One head's columns of z (B, T, H*D).
Tensor head_columns(const Tensor& z, Index head, Index width) {
  return slice(Variable(z), 2, head * width, (head + 1) * width).value();
}

/// One head's part of a pattern (B, H, T, T).
Tensor head_pattern(const Tensor& pattern, Index head) {
  return slice(Variable(pattern), 1, head, head + 1).value();
}

/// z with the columns of one head set to 0, number by number.
Tensor without_head(Tensor z, Index head, Index width) {
  for (Index b = 0; b < z.shape()[0]; ++b)
    for (Index t = 0; t < z.shape()[1]; ++t)
      for (Index d = head * width; d < (head + 1) * width; ++d) z(b, t, d) = 0;
  return z;
}

const Tokens kOneToken(1, 1);

void check_error(const std::function<void()>& action, const std::vector<std::string>& words) {
  try {
    action();
  } catch (const Error& error) {
    const std::string message = error.what();
    for (const std::string& word : words) {
      CAPTURE(message);
      CAPTURE(word);
      CHECK(message.find(word) != std::string::npos);
    }
    return;
  }
  FAIL("expected an error");
}

/// The error of the gradient check on all parameters of a model with every part on, dropout at a fixed
/// stream, and these edits.
[[maybe_unused]] double model_gradient_error(Edits& edits) {
  ModelConfig config = everything_on();
  config.width = 16;  // layer norm over fewer numbers bends too much for finite differences
  Transformer model(config, 1);
  const Tokens inputs = random_tokens(2, 6, 7, 11);
  const Tokens targets = random_tokens(2, 6, 7, 12);
  return gradient_check(model.parameters(), [&](Tape& tape) {
    Pass pass(tape, Generator(3, Purpose::dropout));
    return cross_entropy(model(std::move(pass).watched_by({edits}), inputs), targets);
  });
}

}  // namespace

TEST_CASE("zeroing a head takes its columns from z before the output projection and keeps the bias") {
  const Transformer model = two_head_model();
  const Site output = attention_output(0);
  check_close(seen(model, kOneToken, output), {1, 1, 4}, {12.1, 5.2, 0.3, 9.4});
  Edits first;
  first.zero(head_output(0, 0));
  check_close(seen(model, kOneToken, output, first), {1, 1, 4}, {11.1, 3.2, -3.7, 10.4});
  Edits second;
  second.zero(head_output(0, 1));
  check_close(seen(model, kOneToken, output, second), {1, 1, 4}, {1.1, 2.2, 4.3, -0.6});
  Edits both;
  both.zero(head_output(0));
  check_close(seen(model, kOneToken, output, both), {1, 1, 4}, {0.1, 0.2, 0.3, 0.4}, 0);
}

TEST_CASE("the parts of the heads and one bias sum to the layer's output") {
  const Transformer model = random_model(everything_on());
  const Tokens tokens = random_tokens(3, 8, 7, 1);
  const Site output = attention_output(1);
  const Tensor bias = parameter_value(model, "blocks.1.attention.output.bias");
  Variable sum = Variable(bias);
  for (Index head = 0; head < 2; ++head) {
    Edits others;
    others.zero(head_output(1, 1 - head));
    sum = sum + (Variable(seen(model, tokens, output, others)) - Variable(bias));
  }
  check_close(sum.value(), seen(model, tokens, output));
}

TEST_CASE("zeroing a head removes its contribution and nothing else") {
  for (const ModelConfig& config : {attention_only(), everything_on()}) {
    const Transformer model = random_model(config);
    const Tokens tokens = random_tokens(3, 8, 7, 1);
    for (const Site& site : {head_output(0, 0), head_output(0, 1), head_output(1, 0), head_output(1, 1)}) {
      CAPTURE(to_string(site));
      Edits edits;
      edits.zero(site);
      // All that comes before it is as it was.
      for (const Site& before : {queries(site.layer), keys(site.layer), values(site.layer),
                                 pattern(site.layer), residual_before(site.layer)})
        CHECK(same_bits(seen(model, tokens, before, edits), seen(model, tokens, before)));
      const Tensor z = without_head(seen(model, tokens, head_output(site.layer)), site.head, 3);
      CHECK(same_bits(seen(model, tokens, head_output(site.layer), edits), z));
      // The layer adds what the projection makes of the rest.
      const std::string projection = fmt::format("blocks.{}.attention.output.", site.layer);
      Variable expected =
          matmul(Variable(z), transpose(Variable(parameter_value(model, projection + "weight")), 0, 1));
      if (config.bias) expected = expected + Variable(parameter_value(model, projection + "bias"));
      check_close(seen(model, tokens, attention_output(site.layer), edits), expected.value());
    }
  }
}

TEST_CASE("a model with a head zeroed is the model whose output projection does not read that head") {
  for (const ModelConfig& config : {attention_only(), everything_on()}) {
    const Transformer model = random_model(config);
    const Tokens tokens = random_tokens(3, 8, 7, 1);
    for (Index layer = 0; layer < 2; ++layer)
      for (Index head = 0; head < 2; ++head) {
        Transformer deaf = random_model(config);
        const Parameter weight =
            deaf.parameters().find(fmt::format("blocks.{}.attention.output.weight", layer));
        Real* rows = deaf.parameters().change().data() + weight.offset;
        for (Index row = 0; row < 6; ++row) std::fill_n(rows + row * 6 + head * 3, 3, Real{0});
        Edits edits;
        edits.zero(head_output(layer, head));
        check_close(logits_of(model, tokens, edits), logits_of(deaf, tokens));
      }
  }
}

TEST_CASE("scaling any site, or any head of it, by 1 changes no bit") {
  for (const ModelConfig& config : {attention_only(), everything_on()}) {
    const Transformer model = random_model(config);
    const Tokens tokens = random_tokens(2, 7, 7, 1);
    const Tensor plain = logits_of(model, tokens);
    for (Site site : sites_of(config)) {
      const bool has_heads = site.kind >= SiteKind::queries && site.kind <= SiteKind::head_output;
      for (Index head = kAllHeads; head < (has_heads ? 2 : 0); ++head) {
        site.head = head;
        CAPTURE(to_string(site));
        Edits same;
        same.scale(site, 1);
        CHECK(same_bits(logits_of(model, tokens, same), plain));
        Edits doubled;
        doubled.scale(site, 2);
        CHECK_FALSE(same_bits(logits_of(model, tokens, doubled), plain));
      }
    }
  }
}

TEST_CASE("an edit of one head leaves the other heads of the site as they are, in every sequence") {
  const Transformer model = random_model(everything_on());
  const Tokens tokens = random_tokens(3, 5, 7, 1);
  for (Index head = 0; head < 2; ++head)
    for (const Site& site : {queries(1, head), keys(1, head), values(1, head), head_output(1, head)}) {
      CAPTURE(to_string(site));
      Edits edits;
      edits.zero(site);
      const Site whole{site.kind, 1, kAllHeads};
      CHECK(same_bits(seen(model, tokens, whole, edits), without_head(seen(model, tokens, whole), head, 3)));
    }
}

TEST_CASE("a head without queries attends evenly") {
  const Transformer model = random_model(attention_only());
  const Tokens tokens = random_tokens(3, 5, 7, 1);
  Edits edits;
  edits.zero(queries(0, 1));
  const Tensor weights = seen(model, tokens, pattern(0), edits);
  for (Index b = 0; b < 3; ++b)
    for (Index q = 0; q < 5; ++q)
      for (Index k = 0; k <= q; ++k)
        CHECK(weights(b, 1, q, k) == doctest::Approx(1 / static_cast<double>(q + 1)).epsilon(1e-6));
  CHECK(same_bits(head_pattern(weights, 0), head_pattern(seen(model, tokens, pattern(0)), 0)));
}

TEST_CASE("zeroing a head's pattern zeroes that head's output and no other's") {
  const Transformer model = random_model(everything_on());
  const Tokens tokens = random_tokens(3, 5, 7, 1);
  for (Index head = 0; head < 2; ++head) {
    Edits pattern_edits;
    pattern_edits.zero(pattern(0, head));
    const Tensor weights = seen(model, tokens, pattern(0), pattern_edits);
    check_close(head_pattern(weights, head), Tensor({3, 1, 5, 5}), 0);
    CHECK(
        same_bits(head_pattern(weights, 1 - head), head_pattern(seen(model, tokens, pattern(0)), 1 - head)));

    const Tensor z = seen(model, tokens, head_output(0), pattern_edits);
    check_close(head_columns(z, head, 3), Tensor({3, 5, 3}), 0);
    CHECK(same_bits(head_columns(z, 1 - head, 3),
                    head_columns(seen(model, tokens, head_output(0)), 1 - head, 3)));
    Edits output_edits;
    output_edits.zero(head_output(0, head));
    check_close(logits_of(model, tokens, pattern_edits), logits_of(model, tokens, output_edits));
  }
}

TEST_CASE("values put at some positions leave all others as they are, in every sequence and every head") {
  const Transformer model = random_model(everything_on());
  const Tokens tokens = random_tokens(3, 5, 7, 1);
  const Tensor plain = seen(model, tokens, keys(1));
  const Tensor other = random_tensor(plain.shape(), 4);
  for (const Index head : {kAllHeads, Index{0}, Index{1}}) {
    Edits edits;
    edits.put(keys(1, head), other, {1, 4});
    const Tensor edited = seen(model, tokens, keys(1), edits);
    for (Index b = 0; b < 3; ++b)
      for (Index t = 0; t < 5; ++t)
        for (Index d = 0; d < 6; ++d) {
          const bool is_put = (t == 1 || t == 4) && (head == kAllHeads || d / 3 == head);
          CHECK(edited(b, t, d) == (is_put ? other : plain)(b, t, d));
        }
  }
  // Of a pattern, positions are queries.
  const Tensor weights = seen(model, tokens, pattern(0));
  const Tensor other_weights = random_tensor(weights.shape(), 4);
  Edits edits;
  edits.put(pattern(0, 1), other_weights, {3});
  const Tensor edited = seen(model, tokens, pattern(0), edits);
  for (Index b = 0; b < 3; ++b)
    for (Index h = 0; h < 2; ++h)
      for (Index q = 0; q < 5; ++q)
        for (Index k = 0; k < 5; ++k)
          CHECK(edited(b, h, q, k) == (h == 1 && q == 3 ? other_weights : weights)(b, h, q, k));
}

TEST_CASE("values put at no position, or at one that is not there, are an error") {
  const Transformer model = random_model(attention_only());
  const Tokens tokens = random_tokens(2, 4, 7, 1);
  const Tensor rows({2, 4, 6});
  Edits none;
  check_error([&] { none.put(keys(0), rows, {}); }, {"[edits]", "at least one position", "attention.keys"});
  for (const Index position : {-1, 4}) {
    Edits edits;
    edits.put(keys(0), rows, {position});
    check_error([&] { logits_of(model, tokens, edits); },
                {"[edits] no position", std::to_string(position), "which has 4"});
  }
  Edits short_of;
  short_of.put(keys(0), Tensor({1, 4, 6}), {0});
  check_error([&] { logits_of(model, tokens, short_of); }, {"nothing for sequences 0 to 1"});
}

DOUBLE_TEST_CASE("gradients pass by the positions where values were put") {
  Edits edits;
  edits.put(values(1), random_tensor({2, 6, 16}, 4), {0, 3});
  CHECK(model_gradient_error(edits) < 1e-7);
}

TEST_CASE("edits of one site act in the order given") {
  const Transformer model = random_model(attention_only());
  const Tokens tokens = random_tokens(2, 4, 7, 1);
  const Site site = residual_after(0);
  const Variable value(seen(model, tokens, site));
  const Variable one(Tensor({1}, {1}));
  const auto plus_one = [&](const Variable& x, Index) { return x + one; };
  Edits add_first;
  add_first.replace(site, plus_one).scale(site, 2);
  check_close(seen(model, tokens, site, add_first), (Real{2} * (value + one)).value());
  Edits scale_first;
  scale_first.scale(site, 2).replace(site, plus_one);
  check_close(seen(model, tokens, site, scale_first), (Real{2} * value + one).value());
}

TEST_CASE("an edit of one head sees what an earlier edit of all heads made") {
  const Transformer model = random_model(attention_only());
  const Tokens tokens = random_tokens(2, 4, 7, 1);
  Edits edits;
  edits.scale(head_output(0), 2).zero(head_output(0, 0));
  const Tensor doubled = (Real{2} * Variable(seen(model, tokens, head_output(0)))).value();
  CHECK(same_bits(seen(model, tokens, head_output(0), edits), without_head(doubled, 0, 3)));
}

TEST_CASE(
    "an edit of a site that the model does not have is an error before the pass, with a list of those it "
    "has") {
  const Transformer model = random_model(attention_only());
  const Tokens tokens = random_tokens(1, 3, 7, 1);
  const auto run = [&](const Site& site) {
    Edits counting;
    int visits = 0;
    counting.replace(embedding_site(), [&](const Variable& x, Index) { return ++visits, x; });
    Edits edits;
    edits.zero(site);
    try {
      model(Pass().watched_by({counting, edits}), tokens);
    } catch (...) {
      CHECK(visits == 0);
      throw;
    }
  };
  const std::vector<std::string> list{"embedding", "blocks.0.attention.head_output",
                                      "blocks.1.residual_after", "final_residual", "logits"};
  for (const Site& site : {feed_forward_output(0), head_output(2), head_output(-3), residual_before(7),
                           Site{SiteKind::logits, 0, kAllHeads}}) {
    check_error([&] { run(site); }, list);
    check_error([&] { run(site); }, {to_string(site)});
  }
  check_error([&] { run(head_output(0, 2)); }, {"between 0 and 1", "blocks.0.attention.head_output[2]"});
  check_error([&] { run(pattern(1, -2)); }, {"between 0 and 1"});
  check_error([&] { run({SiteKind::residual_after, 0, 1}); }, {"blocks.0.residual_after has no heads"});
  // The feed-forward site is there in a model that has one.
  Edits edits;
  edits.zero(feed_forward_output(0));
  CHECK_NOTHROW(logits_of(random_model(everything_on()), tokens, edits));
}

TEST_CASE("an edit whose site never came by is an error after the pass") {
  Edits edits;
  edits.zero(head_output(0, 1)).zero(residual_after(1));
  Pass pass = Pass().watched_by({edits});
  pass.begin(attention_only());
  pass.at(head_output(0), Variable(Tensor({1, 2, 6})));
  check_error([&] { pass.end(); }, {"blocks.1.residual_after", "never took effect"});
  pass.at(residual_after(1), Variable(Tensor({1, 2, 6})));
  CHECK_NOTHROW(pass.end());
}

TEST_CASE("an edit that gives another shape, or nothing, is an error that names it") {
  const Transformer model = random_model(attention_only());
  const Tokens tokens = random_tokens(2, 3, 7, 1);
  Edits narrow;
  narrow.replace(head_output(1, 0), [](const Variable& x, Index) { return slice(x, 2, 0, 3); });
  check_error([&] { logits_of(model, tokens, narrow); },
              {"[edits]", "blocks.1.attention.head_output[0]", "(2, 3, 6)", "(2, 3, 3)"});
  Edits nothing;
  nothing.replace(logits_site(), [](const Variable&, Index) { return Variable(); });
  check_error([&] { logits_of(model, tokens, nothing); }, {"[edits]", "logits", "(2, 3, 7)"});
}

TEST_CASE("nothing is left behind by an edit, nor by one that throws") {
  const Transformer model = random_model(everything_on());
  const Tokens tokens = random_tokens(3, 6, 7, 1);
  const Tensor plain = logits_of(model, tokens);

  Edits edits;
  edits.zero(head_output(0, 0)).scale(residual_after(1), 3);
  const Tensor edited = logits_of(model, tokens, edits);
  CHECK_FALSE(same_bits(edited, plain));
  CHECK(same_bits(logits_of(model, tokens), plain));

  bool broken = true;
  Edits throwing;
  throwing.zero(head_output(0, 0)).replace(residual_after(1), [&](const Variable& x, Index) {
    if (broken) throw std::runtime_error("by the replacement");
    return Real{3} * x;
  });
  CHECK_THROWS_WITH_AS(logits_of(model, tokens, throwing), "by the replacement", std::runtime_error);
  CHECK(same_bits(logits_of(model, tokens), plain));
  // The edits themselves can be used again.
  broken = false;
  CHECK(same_bits(logits_of(model, tokens, throwing), edited));
}

TEST_CASE(
    "an exception in one shard of an evaluation reaches the caller and leaves the next evaluation as it "
    "was") {
  const Transformer model = random_model(attention_only());
  const Batch batch{random_tokens(5, 6, 7, 1), random_tokens(5, 6, 7, 2), Table<Kind>(5, 6),
                    Tokens(5, 6, -1)};
  const EvaluateOptions options{.threads = 2, .shard = 2};
  const Tensor plain = evaluate(model, batch, {}, options).losses;
  Edits edits;
  edits.replace(residual_after(0), [](const Variable& x, Index first_sequence) {
    require(first_sequence != 2, "by the replacement");
    return x;
  });
  CHECK_THROWS_WITH_AS(evaluate(model, batch, {edits}, options), "by the replacement", Error);
  CHECK(same_bits(evaluate(model, batch, {}, options).losses, plain));
}

TEST_CASE("a replacement is told which sequences of the batch it has before it") {
  const Transformer model = random_model(attention_only());
  const Batch batch{random_tokens(7, 4, 7, 1), random_tokens(7, 4, 7, 2), Table<Kind>(7, 4),
                    Tokens(7, 4, -1)};
  for (const int threads : {1, 2})
    for (const Index shard : {1, 2, 3, 7, 16}) {
      CAPTURE(threads);
      CAPTURE(shard);
      std::mutex mutex;
      std::multiset<Index> firsts;
      Edits edits;
      edits.replace(embedding_site(), [&](const Variable& x, Index first_sequence) {
        const std::lock_guard lock(mutex);
        firsts.insert(first_sequence);
        Tensor numbered(x.shape());
        const Index each = x.shape().count() / x.shape()[0];
        for (Index i = 0; i < numbered.count(); ++i)
          numbered.data()[i] = static_cast<Real>(first_sequence + i / each);
        return Variable(numbered);
      });
      Recorder recorder({embedding_site()});
      evaluate(model, batch, {edits, recorder}, {.threads = threads, .shard = shard});
      std::multiset<Index> expected;
      for (Index first = 0; first < 7; first += shard) expected.insert(first);
      CHECK(firsts == expected);
      const Tensor numbers = recorder.at(embedding_site());
      REQUIRE(numbers.shape() == Shape({7, 4, 6}));
      for (Index i = 0; i < numbers.count(); ++i) CHECK(numbers.data()[i] == static_cast<Real>(i / (4 * 6)));
    }
}

TEST_CASE("patching the whole stream restores the clean run, patching nothing the corrupted one") {
  const Transformer model = random_model(everything_on());
  const Tokens clean = random_tokens(2, 6, 7, 1);
  const Tokens corrupted = random_tokens(2, 6, 7, 2);
  const Tensor clean_logits = logits_of(model, clean);
  const Tensor corrupted_logits = logits_of(model, corrupted);
  for (const Site& site :
       {embedding_site(), residual_before(0), residual_after(0), residual_before(1), final_residual()}) {
    CAPTURE(to_string(site));
    const Variable source(seen(model, clean, site));
    Edits whole;
    whole.replace(site, [&](const Variable&, Index) { return source; });
    CHECK(same_bits(logits_of(model, corrupted, whole), clean_logits));
    Edits nothing;
    nothing.replace(site, [](const Variable& value, Index) { return value; });
    CHECK(same_bits(logits_of(model, corrupted, nothing), corrupted_logits));
    // One position: those before it cannot see it.
    Tensor here(source.shape());
    for (Index b = 0; b < 2; ++b)
      for (Index c = 0; c < 6; ++c) here(b, 3, c) = 1;
    Edits one;
    one.replace(site, [&](const Variable& value, Index) { return where(here, source, value); });
    const Variable patched(logits_of(model, corrupted, one));
    check_close(slice(patched, 1, 0, 3).value(), slice(Variable(corrupted_logits), 1, 0, 3).value(), 0);
    CHECK_FALSE(
        same_bits(slice(patched, 1, 3, 4).value(), slice(Variable(corrupted_logits), 1, 3, 4).value()));
  }
}

TEST_CASE("no gradient goes through a zeroed head") {
  const Transformer model = random_model(attention_only());
  const Tokens inputs = random_tokens(2, 6, 7, 1);
  Edits edits;
  edits.zero(head_output(1, 1));
  Tape tape;
  const Gradients gradients =
      tape.backward(cross_entropy(model(Pass(tape).watched_by({edits}), inputs), random_tokens(2, 6, 7, 2)));
  const Real* qkv = gradients.data() + model.parameters().find("blocks.1.attention.qkv.weight").offset;
  for (Index row = 0; row < 18; ++row) {
    const bool of_zeroed_head = row % 6 >= 3;
    for (Index column = 0; column < 6; ++column) CHECK((qkv[row * 6 + column] == 0) == of_zeroed_head);
  }
  const Real* output = gradients.data() + model.parameters().find("blocks.1.attention.output.weight").offset;
  for (Index i = 0; i < 36; ++i) CHECK((output[i] == 0) == (i % 6 >= 3));
}

DOUBLE_TEST_CASE("gradients of a whole model are right with a head zeroed") {
  Edits edits;
  edits.zero(head_output(0, 1)).zero(pattern(1, 0));
  CHECK(model_gradient_error(edits) < 1e-6);
}

DOUBLE_TEST_CASE("gradients of a whole model are right with heads and streams scaled") {
  Edits edits;
  edits.scale(queries(0, 1), -1).scale(values(1, 0), 0.5).scale(residual_after(0), 1.5);
  CHECK(model_gradient_error(edits) < 1e-6);
}

DOUBLE_TEST_CASE("gradients of a whole model are right through replacements") {
  Edits edits;
  edits.replace(keys(1, 1), [](const Variable& x, Index) { return tanh(x); })
      .replace(head_output(0, 0),
               [](const Variable& x, Index) { return mean(x, 1) + Variable(Tensor(x.shape())); })
      .replace(feed_forward_output(0), [](const Variable& x, Index) { return x * x; });
  CHECK(model_gradient_error(edits) < 1e-6);
}

TEST_CASE("values put at a site go on from there, each sequence's own, however the batch is cut") {
  const Transformer model = random_model(everything_on());
  const Batch batch = batch_of(random_tokens(7, 6, 7, 1));
  const Batch other = batch_of(random_tokens(7, 6, 7, 2));
  for (const Site& site : {embedding_site(), residual_before(1), pattern(0), values(1), head_output(0)}) {
    CAPTURE(to_string(site));
    Recorder recorder({site});
    evaluate(model, other, {recorder});
    const Tensor put = recorder.at(site);
    Edits edits;
    edits.put(site, put);
    for (const Index shard : {1, 3, 16}) {
      Recorder after({site});
      evaluate(model, batch, {edits, after}, {.threads = 2, .shard = shard});
      CHECK(same_bits(after.at(site), put));
    }
  }
}

TEST_CASE("everything that enters block 0 put into another batch gives that batch's losses to the bit") {
  const Transformer model = random_model(everything_on());
  const Batch clean = batch_of(random_tokens(5, 6, 7, 1));
  Batch corrupted = clean;
  corrupted.inputs = random_tokens(5, 6, 7, 2);
  Recorder recorder({residual_before(0)});
  const Evaluation plain = evaluate(model, clean, {recorder});
  Edits edits;
  edits.put(residual_before(0), recorder.at(residual_before(0)));
  CHECK(same_bits(evaluate(model, corrupted, {edits}).losses, plain.losses));
}

TEST_CASE("one head's values put at a site leave the other heads as they are") {
  const Transformer model = random_model(everything_on());
  const Tokens tokens = random_tokens(2, 5, 7, 1);
  const Index width = everything_on().width / everything_on().heads;
  const Tensor plain = seen(model, tokens, head_output(0));
  Edits edits;
  edits.put(head_output(0, 1), Tensor(plain.shape()));
  CHECK(same_bits(seen(model, tokens, head_output(0), edits), without_head(plain, 1, width)));
}

TEST_CASE("a mean is taken over the sequences of the reference, for each position or over positions too") {
  const Transformer model = two_head_model();
  const Tensor reference({2, 1, 4}, {1, 5, 3, 7, 3, 7, 5, 9});
  Edits edits;
  edits.mean(head_output(0), reference);
  check_close(seen(model, kOneToken, head_output(0), edits), {1, 1, 4}, {2, 6, 4, 8}, 0);

  // Positions of their own: z[sequence][position] = [[1, 5], [3, 7]] has means [2, 6], and 4 over all.
  const Transformer wide = random_model({.vocabulary = 3, .context = 2, .width = 1, .heads = 1, .layers = 1});
  const Tensor rows({2, 2, 1}, {1, 5, 3, 7});
  Edits by_position;
  by_position.mean(head_output(0), rows);
  check_close(seen(wide, Tokens(2, 2), head_output(0), by_position), {2, 2, 1}, {2, 6, 2, 6}, 0);
  Edits over_all;
  over_all.mean(head_output(0), rows, MeanOver::sequences_and_positions);
  check_close(seen(wide, Tokens(2, 2), head_output(0), over_all), {2, 2, 1}, {4, 4, 4, 4}, 0);
}

TEST_CASE("the mean of a pattern over positions keeps heads and keys apart") {
  const Transformer model =
      random_model({.vocabulary = 3, .context = 2, .width = 2, .heads = 2, .layers = 1});
  const Tensor reference({1, 2, 2, 2}, {1, 0, 0.5, 0.5, 1, 0, 0, 1});
  Edits edits;
  edits.mean(pattern(0), reference, MeanOver::sequences_and_positions);
  check_close(seen(model, Tokens(1, 2), pattern(0), edits), {1, 2, 2, 2},
              {0.75, 0.25, 0.75, 0.25, 0.5, 0.5, 0.5, 0.5}, 0);
}

TEST_CASE("a mean counts every sequence once, however unequal the batches they came in") {
  const Transformer model =
      random_model({.vocabulary = 3, .context = 1, .width = 1, .heads = 1, .layers = 1});
  Edits edits;
  edits.mean(head_output(0), Tensor({4, 1, 1}, {1, 2, 3, 10}));
  check_close(seen(model, kOneToken, head_output(0), edits), {1, 1, 1}, {4}, 0);
}

TEST_CASE("values that do not fit a site or a batch are refused with both shapes") {
  const Transformer model = random_model(everything_on());
  const Tokens tokens = random_tokens(3, 5, 7, 1);
  Edits few;
  few.put(head_output(0), seen(model, random_tokens(2, 5, 7, 1), head_output(0)));
  check_error([&] { seen(model, tokens, head_output(0), few); },
              {"[edits]", "blocks.0.attention.head_output", "(2, 5, 6)", "sequences 0 to 2"});
  Edits long_rows;
  long_rows.put(head_output(0), seen(model, random_tokens(3, 6, 7, 1), head_output(0)));
  check_error([&] { seen(model, tokens, head_output(0), long_rows); }, {"(3, 6, 6)", "(3, 5, 6)"});
  Edits mean;
  mean.mean(head_output(0), Tensor({2, 6, 6}));
  check_error([&] { seen(model, tokens, head_output(0), mean); }, {"(3, 6, 6)", "(3, 5, 6)"});
  check_error([] { Edits().mean(head_output(0), Tensor({0, 5, 6})); }, {"[edits]", "(0, 5, 6)"});
}

DOUBLE_TEST_CASE("gradients are right beside values that were put in place, and beside a mean") {
  const Transformer model = random_model([] {
    ModelConfig config = everything_on();
    config.width = 16;
    return config;
  }());
  const Tokens others = random_tokens(2, 6, 7, 31);
  for (const Site& site :
       {queries(0, 1), keys(1, 0), values(0, 1), pattern(1, 1), head_output(0, 0), feed_forward_output(0)}) {
    CAPTURE(to_string(site));
    const Site whole{site.kind, site.layer, kAllHeads};
    Edits put;
    put.put(site, seen(model, others, whole));
    CHECK(model_gradient_error(put) < 1e-6);
    Edits mean;
    mean.mean(site, seen(model, others, whole));
    CHECK(model_gradient_error(mean) < 1e-6);
  }
}
