#include "tapehead/nn/recorder.h"

#include "support/functions.h"
#include "support/models.h"
#include "tapehead/autograd/attention.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/edits.h"
#include "tapehead/train/evaluate.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

Batch batch_of(const Tokens& inputs, Index vocabulary) {
  const Index size = inputs.batch();
  const Index length = inputs.length();
  return {inputs, random_tokens(size, length, vocabulary, 2), Table<Kind>(size, length),
          Tokens(size, length, -1)};
}

}  // namespace

TEST_CASE("every site of a model is recorded in its shape") {
  const Transformer model = random_model(everything_on());
  Recorder recorder(sites_of(model.config()));
  const Tensor logits = model(Pass().watched_by({recorder}), random_tokens(3, 5, 7, 1)).value();
  for (const Site& site : sites_of(model.config())) {
    CAPTURE(to_string(site));
    const Shape expected = site.kind == SiteKind::pattern  ? Shape{3, 2, 5, 5}
                           : site.kind == SiteKind::logits ? Shape{3, 5, 7}
                                                           : Shape{3, 5, 6};
    CHECK(recorder.at(site).shape() == expected);
  }
  CHECK(same_bits(recorder.at(logits_site()), logits));
}

TEST_CASE("what was recorded is a copy, whatever becomes of the model, the pass and earlier copies") {
  Recorder recorder({embedding_site(), head_output(0), logits_site()});
  std::vector<Tensor> first;
  {
    Transformer model = random_model(attention_only());
    Tape tape;
    const Variable logits = model(Pass(tape).watched_by({recorder}), random_tokens(2, 4, 7, 1));
    for (const Site& site : {embedding_site(), head_output(0), logits_site()})
      first.push_back(recorder.at(site));
    CHECK(same_bits(first[2], logits.value()));
    tape.backward(sum(logits));
    for (Real& value : model.parameters().change()) value = 1000;
  }
  Tensor spoilt = recorder.at(head_output(0));
  spoilt.fill(-1);
  CHECK(same_bits(recorder.at(embedding_site()), first[0]));
  CHECK(same_bits(recorder.at(head_output(0)), first[1]));
  CHECK(same_bits(recorder.at(logits_site()), first[2]));
}

TEST_CASE("what is read does not depend on the order in which it is asked for or read") {
  const Transformer model = random_model(attention_only());
  const Tokens tokens = random_tokens(2, 5, 7, 1);
  std::vector<Site> sites = sites_of(model.config());
  Recorder forwards(sites);
  Recorder backwards(std::vector<Site>(sites.rbegin(), sites.rend()));
  model(Pass().watched_by({forwards, backwards}), tokens);
  std::vector<Tensor> there;
  for (const Site& site : sites) there.push_back(forwards.at(site));
  for (std::size_t i = sites.size(); i-- > 0;) {
    CHECK(same_bits(forwards.at(sites[i]), there[i]));
    CHECK(same_bits(backwards.at(sites[i]), there[i]));
  }
}

TEST_CASE("recording changes no bit of what the model computes") {
  const Transformer model = random_model(everything_on());
  const Tokens tokens = random_tokens(2, 5, 7, 1);
  Recorder recorder(sites_of(model.config()));
  CHECK(same_bits(model(Pass().watched_by({recorder}), tokens).value(), model(Pass(), tokens).value()));
}

TEST_CASE("shards are joined in the order of the batch for any number of threads and any shard size") {
  const Transformer model = random_model(attention_only());
  const Batch batch = batch_of(random_tokens(7, 5, 7, 1), 7);
  const std::vector<Site> sites{embedding_site(), pattern(1), head_output(0), logits_site()};
  Recorder whole(sites);
  model(Pass().watched_by({whole}), batch.inputs);
  for (const Index shard : {1, 2, 3, 7, 16}) {
    Recorder one_thread(sites);
    evaluate(model, batch, {one_thread}, {.threads = 1, .shard = shard});
    Recorder four_threads(sites);
    evaluate(model, batch, {four_threads}, {.threads = 4, .shard = shard});
    for (const Site& site : sites) {
      CAPTURE(shard);
      CAPTURE(to_string(site));
      CHECK(same_bits(one_thread.at(site), four_threads.at(site)));
      check_close(one_thread.at(site), whole.at(site));
    }
    CHECK(same_bits(one_thread.at(embedding_site()), whole.at(embedding_site())));
  }
}

TEST_CASE("a mean over what was recorded is one over all sequences, not over the last shard or over shards") {
  Transformer model(
      {.vocabulary = 11, .context = 1, .width = 1, .heads = 1, .layers = 0, .positions = Positions::none}, 1);
  set_parameter(model, "embedding.weight", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  Recorder recorder({embedding_site()});
  evaluate(model, batch_of(Tokens(4, 1, {1, 2, 3, 10}), 11), {recorder}, {.threads = 2, .shard = 3});
  check_close(mean(Variable(recorder.at(embedding_site())), 0).value(), {1, 1, 1}, {4});
}

TEST_CASE("a recorder before an edit has the values before it, one after it those after it") {
  const Transformer model = random_model(attention_only());
  const Tokens tokens = random_tokens(2, 5, 7, 1);
  Recorder plain({head_output(0)});
  model(Pass().watched_by({plain}), tokens);

  Recorder before({head_output(0), logits_site()});
  Edits edits;
  edits.zero(head_output(0, 0));
  Recorder after({head_output(0), logits_site()});
  const Tensor logits = model(Pass().watched_by({before, edits, after}), tokens).value();

  const Tensor z = before.at(head_output(0));
  CHECK(same_bits(z, plain.at(head_output(0))));
  Tensor zeroed = z;
  for (Index row = 0; row < 10; ++row) std::fill_n(zeroed.data() + row * 6, 3, Real{0});
  CHECK(same_bits(after.at(head_output(0)), zeroed));
  CHECK_FALSE(same_bits(z, zeroed));
  // Downstream, both see what the model made of the edit; the model itself is as before.
  CHECK(same_bits(before.at(logits_site()), logits));
  CHECK(same_bits(after.at(logits_site()), logits));
  Recorder again({head_output(0)});
  model(Pass().watched_by({again}), tokens);
  CHECK(same_bits(again.at(head_output(0)), z));
}

TEST_CASE("asking for what was not recorded is an error that names the site") {
  const Transformer model = random_model(attention_only());
  Recorder recorder({pattern(0)});
  CHECK_THROWS_WITH_AS(recorder.at(pattern(0)),
                       "[recorder] no pass has come by blocks.0.attention.pattern yet", Error);
  model(Pass().watched_by({recorder}), random_tokens(1, 3, 7, 1));
  CHECK_NOTHROW(recorder.at(pattern(0)));
  CHECK_THROWS_WITH_AS(recorder.at(pattern(1)), "[recorder] blocks.1.attention.pattern was not asked for",
                       Error);
  CHECK_THROWS_WITH_AS(recorder.at(pattern(0, 1)),
                       "[recorder] blocks.0.attention.pattern[1] was not asked for", Error);
}

TEST_CASE("a site of one head, one the model lacks, and one that never comes by cannot be recorded") {
  const Transformer model = random_model(attention_only());
  CHECK_THROWS_WITH_AS(Recorder({head_output(0, 1)}),
                       doctest::Contains("not blocks.0.attention.head_output[1] alone"), Error);
  Recorder absent({feed_forward_output(0)});
  CHECK_THROWS_WITH_AS(model(Pass().watched_by({absent}), random_tokens(1, 3, 7, 1)),
                       doctest::Contains("blocks.1.attention.head_output"), Error);
  Recorder recorder({pattern(0), pattern(1)});
  Pass pass = Pass().watched_by({recorder});
  pass.begin(model.config());
  pass.at(pattern(0), Variable(Tensor({1, 2, 3, 3})));
  CHECK_THROWS_WITH_AS(pass.end(), doctest::Contains("nothing was recorded at blocks.1.attention.pattern"),
                       Error);
}

TEST_CASE("clear forgets what came by and keeps what is asked for") {
  const Transformer model = random_model(attention_only());
  Recorder recorder({logits_site()});
  model(Pass().watched_by({recorder}), random_tokens(3, 4, 7, 1));
  recorder.clear();
  CHECK_THROWS_AS(recorder.at(logits_site()), Error);
  const Tensor logits = model(Pass().watched_by({recorder}), random_tokens(2, 5, 7, 2)).value();
  CHECK(same_bits(recorder.at(logits_site()), logits));
}

TEST_CASE("a second pass over a batch takes the place of the first, and batches are not mixed") {
  const Transformer model = random_model(attention_only());
  Recorder recorder({logits_site()});
  const Batch large = batch_of(random_tokens(5, 4, 7, 1), 7);
  const Batch other = batch_of(random_tokens(5, 4, 7, 3), 7);
  evaluate(model, large, {recorder}, {.shard = 2});
  evaluate(model, other, {recorder}, {.shard = 2});
  check_close(recorder.at(logits_site()), model(Pass(), other.inputs).value());
  // Without clear() nobody could say which parts are whose.
  evaluate(model, large, {recorder}, {.shard = 3});
  CHECK_THROWS_WITH_AS(recorder.at(logits_site()), doctest::Contains("different batches"), Error);
}

TEST_CASE("attention weights are recorded before dropout, and every row sums to 1") {
  ModelConfig config = everything_on();
  config.dropout = 0.5;
  const Transformer model = random_model(config);
  Recorder recorder({pattern(0), pattern(1), values(0), head_output(0)});
  Tape tape;
  model(Pass(tape, Generator(1, Purpose::dropout)).watched_by({recorder}), random_tokens(3, 8, 7, 1));
  for (const Index layer : {0, 1}) {
    const Tensor weights = recorder.at(pattern(layer));
    for (Index b = 0; b < 3; ++b)
      for (Index h = 0; h < 2; ++h)
        for (Index q = 0; q < 8; ++q) {
          double total = 0;
          for (Index k = 0; k < 8; ++k) {
            CHECK((weights(b, h, q, k) > 0) == (k <= q));
            total += static_cast<double>(weights(b, h, q, k));
          }
          CHECK(total == doctest::Approx(1).epsilon(1e-6));
        }
  }
  // Dropout did act between the pattern and the head output.
  const Variable mixed = attention_mix(Variable(recorder.at(pattern(0))), Variable(recorder.at(values(0))));
  CHECK_FALSE(same_bits(recorder.at(head_output(0)), mixed.value()));
}
