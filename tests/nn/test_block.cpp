#include "tapehead/nn/block.h"

#include "support/modules.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/gradient_check.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Onlooker;
using testing::random_tensor;

const ModelConfig kFull{.context = 5,
                        .width = 6,
                        .heads = 2,
                        .layers = 3,
                        .feed_forward = 8,
                        .norm = NormKind::layer,
                        .qkv_bias = true,
                        .bias = true};
const ModelConfig kAttentionOnly{.context = 5, .width = 6, .heads = 2, .layers = 3};

struct Layer {
  Parameters parameters;
  Block block;

  explicit Layer(const ModelConfig& config) : block(Scope(parameters), config, 1) {
    parameters.initialise(1);
    testing::shake(parameters);
  }
  Onlooker watched(const Tensor& x) const {
    Onlooker onlooker;
    Pass pass = Pass().watched_by({onlooker});
    block(pass, Variable(x));
    return onlooker;
  }
};

}  // namespace

TEST_CASE("a block has the parts that its config asks for") {
  CHECK(testing::listing_of(Layer(kAttentionOnly).parameters) ==
        "attention.qkv.weight (18, 6) 108\n"
        "attention.output.weight (6, 6) 36\n");
  CHECK(testing::listing_of(Layer(kFull).parameters) ==
        "attention_norm.gain (6) 6\n"
        "attention_norm.bias (6) 6\n"
        "attention.qkv.weight (18, 6) 108\n"
        "attention.qkv.bias (18) 18\n"
        "attention.output.weight (6, 6) 36\n"
        "attention.output.bias (6) 6\n"
        "feed_forward_norm.gain (6) 6\n"
        "feed_forward_norm.bias (6) 6\n"
        "feed_forward.input.weight (8, 6) 48\n"
        "feed_forward.input.bias (8) 8\n"
        "feed_forward.output.weight (6, 8) 48\n"
        "feed_forward.output.bias (6) 6\n");
}

TEST_CASE("what leaves a block is what entered it and what its parts added") {
  for (const ModelConfig& config : {kFull, kAttentionOnly}) {
    const Tensor x = random_tensor({2, 5, 6}, 1);
    const Onlooker onlooker = Layer(config).watched(x);
    CHECK(testing::same_bits(onlooker.seen_at(residual_before(1)), x));
    Variable total = Variable(x) + Variable(onlooker.seen_at(attention_output(1)));
    if (config.feed_forward > 0) total = total + Variable(onlooker.seen_at(feed_forward_output(1)));
    CHECK(testing::same_bits(onlooker.seen_at(residual_after(1)), total.value()));
  }
}

TEST_CASE("the norms sit on the branches, so a larger stream is read the same and kept as it is") {
  const Layer layer(kFull);
  const Tensor x = random_tensor({2, 5, 6}, 1, 100);
  Tensor larger = x;
  for (Real& value : larger.values()) value *= 10;
  const Onlooker before = layer.watched(x);
  const Onlooker after = layer.watched(larger);
  for (const Site& site : {queries(1), keys(1), values(1), attention_output(1)})
    check_close(after.seen_at(site), before.seen_at(site), 2e-5);
  CHECK(testing::same_bits(after.seen_at(residual_before(1)), larger));
}

TEST_CASE("each part reads the stream as it is there, through its own norm") {
  const Layer layer(kFull);
  const Tensor x = random_tensor({2, 5, 6}, 1);
  const Onlooker onlooker = layer.watched(x);
  const auto value = [&](const std::string& name) { return constant(layer.parameters.find(name)); };
  const auto normed = [&](const Variable& stream, const std::string& norm) {
    return layer_norm(stream, value(norm + ".gain"), value(norm + ".bias"), Real(1e-5));
  };
  const Variable read = linear(normed(Variable(x), "attention_norm"), value("attention.qkv.weight"),
                               value("attention.qkv.bias"));
  check_close(onlooker.seen_at(queries(1)), slice(read, -1, 0, 6).value());
  const Variable stream = Variable(x) + Variable(onlooker.seen_at(attention_output(1)));
  const Variable hidden = gelu(linear(normed(stream, "feed_forward_norm"), value("feed_forward.input.weight"),
                                      value("feed_forward.input.bias")),
                               GeluForm::tanh);
  check_close(onlooker.seen_at(feed_forward_output(1)),
              linear(hidden, value("feed_forward.output.weight"), value("feed_forward.output.bias")).value());
}

TEST_CASE("a block whose branches are all dropped is the identity") {
  ModelConfig config = kFull;
  config.dropout = 1;
  const Layer layer(config);
  const Tensor x = random_tensor({2, 5, 6}, 1);
  Tape tape;
  Pass pass(tape, Generator(1, Purpose::dropout));
  CHECK(testing::same_bits(layer.block(pass, Variable(x)).value(), x));
}

DOUBLE_TEST_CASE("a block passes the gradient check, also with dropout at a fixed stream") {
  for (ModelConfig config : {kFull, kAttentionOnly})
    for (const GeluForm form : {GeluForm::tanh, GeluForm::erf}) {
      config.gelu = form;
      config.dropout = 0.3;
      Layer layer(config);
      const Tensor x = random_tensor({2, 5, 6}, 1);
      CHECK(testing::module_error(
                layer.parameters, [&](Pass& pass, const Variable& in) { return layer.block(pass, in); }, x) <
            1e-6);
      CHECK(gradient_check(layer.parameters, [&](Tape& tape) {
              Pass pass(tape, Generator(3, Purpose::dropout));
              return testing::weighed(layer.block(pass, Variable(x)));
            }) < 1e-6);
    }
}

}  // namespace tapehead
