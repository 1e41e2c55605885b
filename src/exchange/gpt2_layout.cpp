#include "tapehead/exchange/gpt2_layout.h"

#include <algorithm>
#include <utility>

#include "tapehead/base/require.h"
#include "tapehead/nn/sinusoids.h"

namespace tapehead {

namespace {

/// The listing in the making.
class Listing {
 public:
  explicit Listing(MatrixOrder order) : order_(order) {}

  void table(std::string name, std::string parameter, Index count, Index width) {
    list_.push_back({std::move(name), std::move(parameter), {count, width}, false});
  }
  void norm(const std::string& name, const std::string& ours, Index width) {
    list_.push_back({name + ".weight", ours + ".gain", {width}, false});
    list_.push_back({name + ".bias", ours + ".bias", {width}, false});
  }
  void linear(const std::string& name, const std::string& ours, Index inputs, Index outputs) {
    const bool swapped = order_ == MatrixOrder::inputs_first;
    const std::vector<Index> shape{swapped ? inputs : outputs, swapped ? outputs : inputs};
    list_.push_back({name + ".weight", ours + ".weight", shape, swapped});
    list_.push_back({name + ".bias", ours + ".bias", {outputs}, false});
  }

  std::vector<Gpt2Tensor> take() { return std::move(list_); }

 private:
  MatrixOrder order_;
  std::vector<Gpt2Tensor> list_;
};

/// What stands in the layout for a parameter that the model does not have.
Tensor stand_in(const Gpt2Tensor& tensor, const ModelConfig& config) {
  if (tensor.parameter == "positions.weight" && config.positions == Positions::sinusoidal)
    return sinusoids(config.context, config.width);
  return Tensor(Shape(tensor.shape));
}

}  // namespace

std::vector<Gpt2Tensor> gpt2_tensors(const ModelConfig& config, MatrixOrder order) {
  const Index width = config.width;
  Listing list(order);
  list.table(std::string(kGpt2Embedding), "embedding.weight", config.vocabulary, width);
  list.table("transformer.wpe.weight", "positions.weight", config.context, width);
  for (Index layer = 0; layer < config.layers; ++layer) {
    const std::string theirs = fmt::format("transformer.h.{}.", layer);
    const std::string ours = fmt::format("blocks.{}.", layer);
    list.norm(theirs + "ln_1", ours + "attention_norm", width);
    list.linear(theirs + "attn.c_attn", ours + "attention.qkv", width, 3 * width);
    list.linear(theirs + "attn.c_proj", ours + "attention.output", width, width);
    list.norm(theirs + "ln_2", ours + "feed_forward_norm", width);
    list.linear(theirs + "mlp.c_fc", ours + "feed_forward.input", width, config.feed_forward);
    list.linear(theirs + "mlp.c_proj", ours + "feed_forward.output", config.feed_forward, width);
  }
  list.norm("transformer.ln_f", "final_norm", width);
  list.table(std::string(kGpt2Head), config.tied ? "embedding.weight" : "unembedding.weight",
             config.vocabulary, width);
  return list.take();
}

TensorList in_gpt2_layout(const Transformer& model, const std::vector<Gpt2Tensor>& tensors) {
  TensorList list;
  for (const Gpt2Tensor& tensor : tensors) {
    const Parameter parameter = find_or_none(model.parameters(), tensor.parameter);
    if (parameter.owner == nullptr)
      list.add(tensor.name, stand_in(tensor, model.config()));
    else if (tensor.is_transposed)
      list.add(tensor.name, transposed(parameter));
    else
      list.add(tensor.name, parameter);
  }
  return list;
}

void require_gpt2_layout(const ModelConfig& config, std::string_view format) {
  std::string lacks;
  if (config.norm == NormKind::none) lacks += "\n  model.norm = none: that layout has layer norms";
  if (config.feed_forward == 0) lacks += "\n  model.feed_forward = 0: every block has a feed-forward part";
  const std::string beyond = beyond_gpt2(config);
  if (lacks.empty() && beyond.empty()) return;
  throw UsageError(fmt::format("[{}] this model cannot be said in the GPT-2 layout:{}\nexport it as {}",
                               format, lacks + beyond, beyond.empty() ? "transformer-lens or npz" : "npz"));
}

}  // namespace tapehead
