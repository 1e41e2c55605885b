#include "tapehead/train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tapehead/base/digest.h"
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

using Metadata = std::map<std::string, std::string>;
constexpr const char* kChecksum = "checksum";

/// A tensor by its name, and its bytes.
using Numbers = std::pair<std::string_view, std::string_view>;

/// Of all that a checkpoint says but its checksum.
std::string checksum_of(const Metadata& metadata, const std::vector<Numbers>& tensors) {
  Digest digest;
  for (const auto& [key, value] : metadata) {
    if (key == kChecksum) continue;
    digest.add(key);
    digest.add(value);
  }
  for (const auto& [name, bytes] : tensors) {
    digest.add(name);
    digest.add(bytes);
  }
  return digest.text();
}

/// Throws Error if the file is not what was saved. A file without a checksum is believed.
void require_checksum(const SafetensorsFile& archive, const std::filesystem::path& file) {
  const auto saved = archive.metadata().find(kChecksum);
  if (saved == archive.metadata().end()) return;
  std::vector<Numbers> tensors;
  for (const SafetensorsEntry& entry : archive.entries())
    tensors.emplace_back(entry.name,
                         archive.payload().substr(static_cast<std::size_t>(entry.begin),
                                                  static_cast<std::size_t>(entry.end - entry.begin)));
  require(
      checksum_of(archive.metadata(), tensors) == saved->second,
      "[checkpoint] {} is damaged: it does not hold what was saved (if it was changed on purpose, take the "
      "checksum out of its metadata)",
      file.string());
}

/// Throws one Error that lists every parameter that is missing, unexpected or of another shape.
void require_same_parameters(const SafetensorsFile& archive, const Parameters& parameters,
                             const std::filesystem::path& file) {
  std::string faults;
  for (const Parameters::Entry& entry : parameters.entries()) {
    const auto found = std::ranges::lower_bound(archive.entries(), entry.name, {}, &SafetensorsEntry::name);
    if (found == archive.entries().end() || found->name != entry.name) {
      faults += fmt::format("\n  missing: {} {}", entry.name, entry.shape);
    } else if (!std::ranges::equal(found->shape, entry.shape.sizes())) {
      faults += fmt::format("\n  shape: {} should be {}, is ({})", entry.name, entry.shape,
                            fmt::join(found->shape, ", "));
    }
  }
  std::set<std::string_view> known;
  for (const Parameters::Entry& entry : parameters.entries()) known.insert(entry.name);
  for (const SafetensorsEntry& other : archive.entries())
    if (!known.contains(other.name) && !other.name.starts_with(kOptimizerPrefix))
      faults += fmt::format("\n  unexpected: {}", quoted_name(other.name));
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
  // Tables of fixed positions are in no file.
  constexpr double kTableAllowance = 1e8;
  require(count_fixed_positions(config) <= bytes + kTableAllowance,
          "[checkpoint] {} holds {} bytes, and its config describes a context of {} positions, whose tables "
          "are {:.3g} numbers",
          file.string(), bytes, config.context, count_fixed_positions(config));
}

/// What is written of a model: its numbers, and the optimizer's.
struct Written {
  const Parameters& parameters;
  const Real* values;
  const std::vector<Optimizer::State>& averages;
  Index updates;
  Index step;
};

void write_checkpoint(const std::filesystem::path& file, const Config& config, const Written& model,
                      const std::string& data) {
  std::vector<NamedTensor> tensors;
  for (const Parameters::Entry& entry : model.parameters.entries()) {
    tensors.push_back({entry.name, entry.shape, model.values + entry.offset});
    for (const Optimizer::State& state : model.averages)
      if (state.values.count() > 0)
        tensors.push_back(
            {state_name(state.name, entry.name), entry.shape, state.values.data() + entry.offset});
  }
  // As the archive lists them.
  std::ranges::sort(tensors, {}, &NamedTensor::name);
  std::vector<Numbers> numbers;
  for (const NamedTensor& tensor : tensors)
    numbers.emplace_back(tensor.name,
                         std::string_view(reinterpret_cast<const char*>(tensor.data),
                                          static_cast<std::size_t>(tensor.shape.count()) * sizeof(Real)));
  Metadata metadata{{"config", to_toml(config)},
                    {"step", std::to_string(model.step)},
                    {"optimizer_steps", std::to_string(model.updates)},
                    {"task", config.task.name},
                    {"data", data},
                    {"tapehead_version", version()}};
  metadata[kChecksum] = checksum_of(metadata, numbers);
  write_safetensors(file, tensors, metadata);
}

}  // namespace

void save_checkpoint(const std::filesystem::path& file, const Config& config, const Transformer& model,
                     const Optimizer& optimizer, Index step, const std::string& data) {
  write_checkpoint(
      file, config,
      {model.parameters(), model.parameters().data(), optimizer.state(), optimizer.steps(), step}, data);
}

Snapshot snapshot_of(const Transformer& model, const Optimizer& optimizer, Index step) {
  const Parameters& parameters = model.parameters();
  return {step, Tensor({parameters.count()}, parameters.values()), optimizer.state(), optimizer.steps()};
}

void save_snapshot(const std::filesystem::path& file, const Config& config, const Parameters& parameters,
                   const Snapshot& snapshot, const std::string& data) {
  require(snapshot.values.count() == parameters.count(),
          "[checkpoint] a snapshot of {} numbers is not of this model, which has {}", snapshot.values.count(),
          parameters.count());
  write_checkpoint(file, config,
                   {parameters, snapshot.values.data(), snapshot.averages, snapshot.updates, snapshot.step},
                   data);
}

Checkpoint load_checkpoint(const std::filesystem::path& file) {
  const SafetensorsFile archive(file);
  Config config = parse_config(metadata_of(archive, "config", file), file.string());
  require_plausible_size(archive, config.model, file);
  Transformer model = Transformer::zeros(config.model);
  require_same_parameters(archive, model.parameters(), file);
  const Index step = number_in(archive, "step", file);
  std::string data = metadata_of(archive, "data", file);
  require_checksum(archive, file);
  const std::span<Real> values = model.parameters().change();
  for (const Parameters::Entry& entry : model.parameters().entries()) {
    const Tensor tensor = archive.read(entry.name);
    std::copy_n(tensor.data(), entry.count(), values.begin() + entry.offset);
  }
  return {std::move(config), step, std::move(model), std::move(data)};
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
      require(all_finite(part.values()), "[checkpoint] {}: {} of {} holds a number that is not finite",
              file.string(), state.name, entry.name);
      require(part.shape() == entry.shape, "[checkpoint] {}: {} of {} should be {}, is {}", file.string(),
              state.name, entry.name, entry.shape, part.shape());
      std::copy_n(part.data(), part.count(), values.data() + entry.offset);
    }
    states.push_back({state.name, std::move(values)});
  }
  optimizer.restore(steps, std::move(states));
}

}  // namespace tapehead
