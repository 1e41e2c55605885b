#include "tapehead/train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"
#include "tapehead/base/version.h"
#include "tapehead/tensor/safetensors.h"

namespace tapehead {

namespace {

constexpr std::string_view kOptimizerPrefix = "optimizer.";

std::string state_name(const std::string& state, const std::string& parameter) {
  return fmt::format("{}{}.{}", kOptimizerPrefix, state, parameter);
}

const std::string& metadata_of(const SafetensorsFile& archive, const std::string& key,
                               const std::filesystem::path& file) {
  const auto found = archive.metadata().find(key);
  require(found != archive.metadata().end(),
          "[checkpoint] {} has no {} in its metadata: not a Tapehead checkpoint", file.string(), key);
  return found->second;
}

Index number_in(const SafetensorsFile& archive, const std::string& key, const std::filesystem::path& file) {
  const std::string& text = metadata_of(archive, key, file);
  Index number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  require(error == std::errc() && end == text.data() + text.size() && number >= 0,
          "[checkpoint] {}: expected a count for {}, got {}", file.string(), key, quoted_name(text));
  return number;
}

/// Throws one Error that lists every parameter that is missing, unexpected or of another shape.
void require_same_parameters(const SafetensorsFile& archive, const Parameters& parameters,
                             const std::filesystem::path& file) {
  std::string faults;
  for (const Parameters::Entry& entry : parameters.entries()) {
    const auto found = std::find_if(archive.entries().begin(), archive.entries().end(),
                                    [&](const SafetensorsEntry& other) { return other.name == entry.name; });
    if (found == archive.entries().end()) {
      faults += fmt::format("\n  missing: {} {}", entry.name, entry.shape);
    } else if (!std::ranges::equal(found->shape, entry.shape.sizes())) {
      faults += fmt::format("\n  shape: {} should be {}, is ({})", entry.name, entry.shape,
                            fmt::join(found->shape, ", "));
    }
  }
  for (const SafetensorsEntry& other : archive.entries()) {
    const bool known = std::ranges::any_of(
        parameters.entries(), [&](const Parameters::Entry& entry) { return entry.name == other.name; });
    if (!known && !other.name.starts_with(kOptimizerPrefix))
      faults += fmt::format("\n  unexpected: {}", quoted_name(other.name));
  }
  require(faults.empty(), "[checkpoint] {} does not hold the model its config describes:{}", file.string(),
          faults);
}

/// Throws Error where the config describes a far larger model than the file could hold, before there is room
/// made for it.
void require_plausible_size(const SafetensorsFile& archive, const ModelConfig& config,
                            const std::filesystem::path& file) {
  double bytes = 0;
  for (const SafetensorsEntry& entry : archive.entries())
    bytes += static_cast<double>(entry.end - entry.begin);
  constexpr double kAllowance = 1e6;
  require(count_parameters(config) <= bytes + kAllowance,
          "[checkpoint] {} holds {} bytes, and its config describes a model of {:.3g} parameters",
          file.string(), bytes, count_parameters(config));
}

}  // namespace

void save_checkpoint(const std::filesystem::path& file, const Config& config, const Transformer& model,
                     const Optimizer& optimizer, Index step, const std::string& data) {
  std::vector<NamedTensor> tensors;
  for (const Parameters::Entry& entry : model.parameters().entries()) {
    tensors.push_back({entry.name, entry.shape, model.parameters().data() + entry.offset});
    for (const Optimizer::State& state : optimizer.state())
      if (state.values.count() > 0)
        tensors.push_back(
            {state_name(state.name, entry.name), entry.shape, state.values.data() + entry.offset});
  }
  write_safetensors(file, tensors,
                    {{"config", to_toml(config)},
                     {"step", std::to_string(step)},
                     {"optimizer_steps", std::to_string(optimizer.steps())},
                     {"task", config.task.name},
                     {"data", data},
                     {"tapehead_version", version()}});
}

Checkpoint load_checkpoint(const std::filesystem::path& file) {
  const SafetensorsFile archive(file);
  Config config = parse_config(metadata_of(archive, "config", file), file.string());
  require_plausible_size(archive, config.model, file);
  Transformer model = Transformer::zeros(config.model);
  require_same_parameters(archive, model.parameters(), file);
  const std::span<Real> values = model.parameters().change();
  for (const Parameters::Entry& entry : model.parameters().entries()) {
    const Tensor tensor = archive.read(entry.name);
    std::copy_n(tensor.data(), entry.count(), values.begin() + entry.offset);
  }
  return {std::move(config), number_in(archive, "step", file), std::move(model),
          metadata_of(archive, "data", file)};
}

void restore_optimizer(const std::filesystem::path& file, const Parameters& parameters,
                       Optimizer& optimizer) {
  const SafetensorsFile archive(file);
  const Index steps = number_in(archive, "optimizer_steps", file);
  std::vector<Optimizer::State> states;
  for (const Optimizer::State& state : optimizer.state()) {
    Tensor values;
    if (steps > 0) values = Tensor({parameters.count()});
    for (const Parameters::Entry& entry : parameters.entries()) {
      if (steps == 0) break;
      const Tensor part = archive.read(state_name(state.name, entry.name));
      require(part.shape() == entry.shape, "[checkpoint] {}: {} of {} should be {}, is {}", file.string(),
              state.name, entry.name, entry.shape, part.shape());
      std::copy_n(part.data(), part.count(), values.data() + entry.offset);
    }
    states.push_back({state.name, std::move(values)});
  }
  optimizer.restore(steps, std::move(states));
}

}  // namespace tapehead
