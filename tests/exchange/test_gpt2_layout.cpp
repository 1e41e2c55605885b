#include "tapehead/exchange/gpt2_layout.h"

#include <map>

#include "exchange/foreign.h"
#include "support/models.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

const ModelConfig kGpt2Small{.vocabulary = 50257,
                             .context = 1024,
                             .width = 768,
                             .heads = 12,
                             .layers = 12,
                             .feed_forward = 3072,
                             .norm = NormKind::layer,
                             .qkv_bias = true,
                             .bias = true,
                             .tied = true};

std::vector<Index> reversed(std::vector<Index> shape) {
  std::ranges::reverse(shape);
  return shape;
}

}  // namespace

TEST_CASE("the listing is of every parameter of a GPT-2, each once, in the shape it has there") {
  for (const MatrixOrder order : {MatrixOrder::inputs_first, MatrixOrder::outputs_first}) {
    ModelConfig config = small_gpt2();
    config.tied = false;
    const Transformer model(config, 1);
    std::map<std::string, std::vector<Index>> ours;
    for (const Parameters::Entry& entry : model.parameters().entries())
      ours[entry.name] = {entry.shape.sizes().begin(), entry.shape.sizes().end()};
    for (const Gpt2Tensor& tensor : gpt2_tensors(config, order)) {
      CAPTURE(tensor.name);
      REQUIRE(ours.contains(tensor.parameter));
      CHECK(tensor.shape ==
            (tensor.is_transposed ? reversed(ours.at(tensor.parameter)) : ours.at(tensor.parameter)));
      ours.erase(tensor.parameter);
    }
    CHECK(ours.empty());
  }
}

TEST_CASE("GPT-2 small has 148 tensors and 124,439,808 numbers besides its head") {
  std::vector<Gpt2Tensor> tensors = gpt2_tensors(kGpt2Small, MatrixOrder::inputs_first);
  CHECK(tensors.back().name == "lm_head.weight");
  CHECK(tensors.back().parameter == "embedding.weight");
  tensors.pop_back();
  CHECK(tensors.size() == 148);
  Index count = 0;
  for (const Gpt2Tensor& tensor : tensors) count += Shape(tensor.shape).count();
  CHECK(count == 124439808);
}

TEST_CASE("only the four matrices of a block are kept inputs first, and only in Hugging Face's files") {
  ModelConfig config = small_gpt2();
  config.layers = 1;
  std::vector<std::string> swapped;
  for (const Gpt2Tensor& tensor : gpt2_tensors(config, MatrixOrder::inputs_first))
    if (tensor.is_transposed) swapped.push_back(tensor.name);
  CHECK(swapped ==
        std::vector<std::string>{"transformer.h.0.attn.c_attn.weight", "transformer.h.0.attn.c_proj.weight",
                                 "transformer.h.0.mlp.c_fc.weight", "transformer.h.0.mlp.c_proj.weight"});
  for (const Gpt2Tensor& tensor : gpt2_tensors(config, MatrixOrder::outputs_first))
    CHECK_FALSE(tensor.is_transposed);
}

TEST_CASE("parameters go into the layout bit by bit, matrices turned over") {
  const Transformer model = random_model(small_gpt2());
  const std::vector<Gpt2Tensor> listing = gpt2_tensors(model.config(), MatrixOrder::inputs_first);
  const TensorList list = in_gpt2_layout(model, listing);
  REQUIRE(list.tensors().size() == listing.size());
  for (std::size_t i = 0; i < listing.size(); ++i) {
    const NamedTensor& tensor = list.tensors()[i];
    CAPTURE(tensor.name);
    CHECK(tensor.name == listing[i].name);
    REQUIRE(tensor.shape == Shape(listing[i].shape));
    const Tensor ours = parameter_value(model, listing[i].parameter);
    Index unequal = 0;
    for (Index j = 0; j < ours.count(); ++j) {
      const Index columns = ours.shape()[-1], rows = ours.shape().rows();
      const Index there = listing[i].is_transposed ? j % columns * rows + j / columns : j;
      unequal += tensor.data[there] == ours.data()[j] ? 0 : 1;
    }
    CHECK(unequal == 0);
  }
}

TEST_CASE("what a model does not have is what it amounts to: zero biases, and positions as they are") {
  ModelConfig config = small_gpt2();
  config.bias = false;
  config.positions = Positions::sinusoidal;
  const auto tensor_of = [](const Transformer& model, std::string_view name) {
    const TensorList list = in_gpt2_layout(model, gpt2_tensors(model.config(), MatrixOrder::inputs_first));
    const auto found = std::ranges::find(list.tensors(), name, &NamedTensor::name);
    REQUIRE(found != list.tensors().end());
    return Tensor(found->shape,
                  std::span<const Real>(found->data, static_cast<std::size_t>(found->shape.count())));
  };
  const Transformer model = random_model(config);
  CHECK(same_bits(tensor_of(model, "transformer.h.1.mlp.c_fc.bias"), Tensor({12})));
  CHECK(same_bits(tensor_of(model, "transformer.ln_f.bias"), Tensor({8})));
  CHECK(same_bits(tensor_of(model, "transformer.h.1.attn.c_attn.bias"),
                  parameter_value(model, "blocks.1.attention.qkv.bias")));
  const Tensor table = tensor_of(model, "transformer.wpe.weight");
  REQUIRE(to_string(table.shape()) == "(10, 8)");
  // sin and cos of t / 10000^(2i/8), here of t = 3.
  const std::array<double, 8> row{0.14112001, -0.98999250, 0.29552021, 0.95533649,
                                  0.02999550, 0.99955003,  0.00300000, 0.99999550};
  for (Index i = 0; i < 8; ++i)
    CHECK(static_cast<double>(table(3, i)) ==
          doctest::Approx(row[static_cast<std::size_t>(i)]).epsilon(1e-6));
  config.positions = Positions::none;
  CHECK(same_bits(tensor_of(random_model(config), "transformer.wpe.weight"), Tensor({10, 8})));
}

TEST_CASE("a config that is no GPT-2 is refused in the words of the format") {
  CHECK(complaint_of([] { require_gpt2_layout(small_gpt2(), "x"); }) == "accepted");
  ModelConfig config = small_gpt2();
  config.norm = NormKind::none;
  CHECK(complaint_of([&] { require_gpt2_layout(config, "x"); }) ==
        "[x] this model cannot be said in the GPT-2 layout:\n  model.norm = none: that layout has "
        "layer norms\n"
        "export it as transformer-lens or npz");
}

TEST_CASE("what GPT-2 has no place for is named, setting by setting, and only npz is left") {
  ModelConfig config = small_gpt2();
  config.norm = NormKind::rms;
  config.positions = Positions::rotary;
  config.activation = Activation::swiglu;
  config.scores = ScoreForm::bilinear;
  config.scaled_scores = false;
  config.query_key_norm = config.smeared_keys = true;
  const std::string settings =
      "\n  model.norm = rms\n  model.positions = rotary\n  model.activation = swiglu\n  model.scores = "
      "bilinear"
      "\n  model.scaled_scores = false\n  model.query_key_norm = true\n  model.smeared_keys = true";
  CHECK(beyond_gpt2(config) == settings);
  CHECK(complaint_of([&] { require_gpt2_layout(config, "x"); }) ==
        "[x] this model cannot be said in the GPT-2 layout:" + settings + "\nexport it as npz");
  CHECK(beyond_gpt2(small_gpt2()).empty());
  config = small_gpt2();
  config.attention = AttentionForm::tiled;
  CHECK(beyond_gpt2(config).empty());
}
