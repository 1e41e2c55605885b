// Every figure at every width: nothing is cut off, and no words stand upon others.

#include <cmath>
#include <functional>

#include "report/drawing.h"
#include "report/svg_words.h"
#include "support/models.h"
#include "support/testing.h"
#include "tapehead/interp/ablation.h"
#include "tapehead/interp/attribution.h"
#include "tapehead/interp/circuit_tables.h"
#include "tapehead/interp/context_score.h"
#include "tapehead/interp/patching.h"
#include "tapehead/interp/subsets.h"
#include "tapehead/report/ablation_figure.h"
#include "tapehead/report/attention_figure.h"
#include "tapehead/report/attribution_figure.h"
#include "tapehead/report/composition_figure.h"
#include "tapehead/report/context_figure.h"
#include "tapehead/report/curves_figure.h"
#include "tapehead/report/eigenvalue_figure.h"
#include "tapehead/report/formation_dots_figure.h"
#include "tapehead/report/head_figure.h"
#include "tapehead/report/lens_figure.h"
#include "tapehead/report/loss_figure.h"
#include "tapehead/report/patching_figure.h"
#include "tapehead/report/phase_figure.h"
#include "tapehead/report/shapley_figure.h"
#include "tapehead/report/sweep_curves_figure.h"
#include "tapehead/train/trainer.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// That a figure which refuses this width asks for; 0 for others.
int least_width(const std::function<Figure(const FigureSize&)>& figure_of, int width) {
  try {
    figure_of({width});
  } catch (const Error& error) {
    const std::string message = error.what();
    return std::stoi(message.substr(message.find("a width of at least ") + 20));
  }
  return 0;
}

/// Draws the figure at several widths, and higher and as low as it can be.
void check_sizes(const std::function<Figure(const FigureSize&)>& figure_of) {
  const auto check = [&](const FigureSize& size) {
    CAPTURE(size.width);
    CAPTURE(size.height);
    const Figure figure = figure_of(size);
    CHECK(figure.width == size.width);
    if (size.height > 0) CHECK(figure.height == size.height);
    CHECK(faults_of_words(svg_of(figure), figure.width, figure.height) == "");
    return figure.height;
  };
  for (int width : {FigureSize::kLeastWidth, kColumnSize.width, kPageSize.width}) {
    width = std::max(width, least_width(figure_of, width));
    const int height = check({width});
    check({width, height + 150});
    try {
      figure_of({width, 1});
    } catch (const Error& error) {
      const std::string message = error.what();
      const int least = std::stoi(message.substr(message.find("at least ") + 9));
      CHECK(least <= height);
      check({width, least});
    }
  }
}

Config config_of(Index layers, Index heads) {
  Config config;
  config.model.layers = layers;
  config.model.heads = heads;
  config.model.width = 8 * heads;
  config.model.context = config.task.length;
  config.train.evaluation_sequences = 16;
  return config;
}

struct Counts {
  Index layers;
  Index heads;
};
constexpr Counts kModels[] = {{2, 2}, {1, 1}, {3, 8}, {2, 12}};

CsvTable metrics_of(double middle) {
  CsvTable table({"step", "tokens", "loss", "loss_induction", "loss_noise", "accuracy_induction"});
  for (Index step = 0; step <= 2000; step += 20) {
    const double after = (static_cast<double>(step) - middle) / 40;
    const double formed = 1 / (1 + std::exp(-after));
    const double induction = 4 - 3.7 * formed;
    const double noise = 4.4 + 0.7 * std::exp(-after * after / 8);
    table.add({std::to_string(step), std::to_string(step * 768),
               fmt::format("{}", 0.7 * induction + 0.3 * noise), fmt::format("{}", induction),
               fmt::format("{}", noise), fmt::format("{}", 0.02 + 0.97 * formed)});
  }
  return table;
}

CsvTable floors() {
  CsvTable table({"predictor", "loss", "loss_induction", "loss_noise"});
  table.add({"chance", "4.16", "4.16", "4.16"});
  table.add({"current token", "1.5", "0.02", "4.26"});
  table.add({"last two", "1.4", "0.01", "4.2"});
  table.add({"Bayes", "1.28", "0.00", "4.07"});
  return table;
}

Estimate around(double mean) { return {mean, mean - 0.1, mean + 0.1}; }

std::vector<Ablation> ablations_of(const ModelConfig& model, AblationKind kind) {
  std::vector<Ablation> all;
  const auto add = [&](const Site& site, double change) {
    Ablation ablation{
        .removal = {kind, {site}}, .change_induction = around(change), .change_noise = around(-change / 3)};
    ablation.accuracy_induction = {0.991, 0.99, 1};
    all.push_back(ablation);
  };
  for (Index layer = 0; layer < model.layers; ++layer) {
    for (Index head = 0; head < model.heads; ++head) add(head_output(layer, head), head == 1 ? 3.71 : -0.02);
    add(head_output(layer, kAllHeads), 10.25);
    if (model.feed_forward > 0) add(feed_forward_output(layer), 0.5);
  }
  return all;
}

}  // namespace

TEST_CASE("the loss figure has room for its words at every size, whenever the heads form") {
  for (const double middle : {150.0, 500.0, 1000.0, 1700.0, 1950.0, 9000.0}) {
    CAPTURE(middle);
    const CsvTable metrics = metrics_of(middle);
    check_sizes([&](const FigureSize& size) {
      return loss_figure(metrics, floors(), formation_of(metrics), Config{}, size);
    });
  }
}

TEST_CASE("the curves figure has room for its words at every size") {
  CsvTable shorter = metrics_of(600);
  shorter.drop_above("step", 1000);
  for (const std::vector<CsvTable>& runs :
       {std::vector{metrics_of(300), metrics_of(500)}, {metrics_of(300), metrics_of(9000), shorter}}) {
    const std::vector<Config> configs(runs.size());
    check_sizes([&](const FigureSize& size) { return curves_figure(runs, floors(), configs, size); });
  }
}

TEST_CASE("the figures of sweeps have room for their words at every size, with few sweeps and with many") {
  for (const int sweeps : {1, 3, 16}) {
    CAPTURE(sweeps);
    std::vector<StepGroup> groups;
    std::vector<RunsOfSweep> runs;
    for (int i = 0; i < sweeps; ++i) {
      const std::string label = i == 1 ? std::string(90, 'm') : fmt::format("model.heads={}", 1 << i);
      groups.push_back({label, {{300.0 + 100 * i, 2000}, {{}, 2000}, {350.0, 2000}}});
      if (i == 2) groups.back().runs.resize(130, {{}, 500});
      runs.push_back({label, {metrics_of(300 + 100 * i), metrics_of(500)}});
    }
    const std::string subtitle = "the sweeps differ in model.heads, model.positions, task.period_max";
    check_sizes([&](const FigureSize& size) {
      return formation_dots_figure(groups, {subtitle, {{"12 runs are not finished, and left out"}}}, size);
    });
    check_sizes([&](const FigureSize& size) { return sweep_curves_figure(runs, subtitle, size); });
  }
}

TEST_CASE("the phase figure has room for its words at every size, with two fields and with three") {
  for (const int values : {1, 3, 6})
    for (const bool third : {false, true}) {
      CAPTURE(values);
      CAPTURE(third);
      std::vector<PhaseCell> cells;
      for (int i = 0; i < values * values * (third ? 3 : 1); ++i) {
        GridPoint point{{"model.heads", std::to_string(1 << i % values)},
                        {"train.learning_rate", fmt::format("{}e-3", i / values % values)}};
        if (third) point.push_back({"task.period_max", std::to_string(8 + i / (values * values))});
        cells.push_back({std::move(point), {{100.0 * i, 2000}, {{}, 2000}, {300.0, 2000}}});
        if (i == 1) cells.back().runs = {{{}, 2000}};
      }
      check_sizes([&](const FigureSize& size) {
        return phase_figure(cells, {"the settings differ in model.heads and more"}, size);
      });
    }
}

TEST_CASE("the head figure has room for its words at every size, with few heads and with many") {
  for (const Counts& counts : kModels) {
    const Index layers = counts.layers;
    const Index heads = counts.heads;
    CAPTURE(heads);
    CsvTable table({"step", "layer", "head", "previous_token", "induction", "copying", "k_composition"});
    for (const char* step : {"0", "2000"})
      for (Index layer = 0; layer < layers; ++layer)
        for (Index head = 0; head < heads; ++head)
          table.add({step, std::to_string(layer), std::to_string(head), head == 0 ? "1" : "0.02",
                     head == 1 ? "0.98" : "0.03", head == 1 ? "0.9" : "-0.97", layer > 0 ? "0.2" : ""});
    const Formation formation{.last_step = 2000, .onset = 130, .half = 300};
    check_sizes([&](const FigureSize& size) {
      return head_figure(table, {0.07, 0.1, 0.1, 0.1, 0.06, 0.1, -0.97}, formation, config_of(layers, heads),
                         size);
    });
  }
}

TEST_CASE("the attention figure has room for its words at every size, with few heads and with many") {
  for (const Counts& counts : kModels)
    for (const Index vocabulary : {64, 5000}) {
      const Index layers = counts.layers;
      const Index heads = counts.heads;
      CAPTURE(heads);
      CAPTURE(vocabulary);
      Config config = config_of(layers, heads);
      config.model.vocabulary = vocabulary;
      const Transformer model(config.model, 1);
      const Batch batch = evaluation_batch(config);
      const Batch sequence = sequence_to_show(batch);
      const auto scores = score_heads(model, batch);
      check_sizes([&](const FigureSize& size) {
        return attention_figure(model,
                                {sequence, token_signs(sequence.inputs, vocabulary),
                                 "sequence 255 of the evaluation batch, its first 24 of 48 positions"},
                                scores, {-1, -1, -1, -1, -1, -1, -1}, config, 2000, size);
      });
    }
}

TEST_CASE("the ablation figure has room for its words at every size, of one kind and of all") {
  for (const Counts& counts : kModels) {
    const Index layers = counts.layers;
    const Index heads = counts.heads;
    CAPTURE(heads);
    Config config = config_of(layers, heads);
    config.model.feed_forward = heads == 8 ? 32 : 0;
    std::vector<Ablation> all;
    for (const AblationDefinition& kind : kAblationKinds) {
      const std::vector<Ablation> ablations = ablations_of(config.model, kind.kind);
      all.insert(all.end(), ablations.begin(), ablations.end());
      if (kind.kind != AblationKind::zero) continue;
      check_sizes([&](const FigureSize& size) {
        return ablation_figure(ablation_table(ablations, 2000, 256), 0.991, config, size);
      });
    }
    check_sizes([&](const FigureSize& size) {
      return ablation_figure(ablation_table(all, 2000, 256), 0.991, config, size);
    });
  }
}

TEST_CASE("the Shapley figure has room for its words at every size, with few heads and with many") {
  for (const Counts& counts : kModels) {
    const Index layers = counts.layers;
    const Index heads = counts.heads;
    CAPTURE(heads);
    std::vector<LayerSubsets> all;
    for (Index number = 0; number < layers; ++number) {
      LayerSubsets layer{.layer = number};
      layer.subsets.resize(2);
      layer.subsets.back().change_induction = around(10.5);
      for (Index head = 0; head < heads; ++head) {
        layer.heads.push_back(
            {.head = head, .shapley = around(head == 0 ? 9.25 : -0.5), .alone = around(0.75), .share = 1});
        if (head > 0) layer.pairs.push_back({head - 1, head, {2.5, 2, 3}});
      }
      all.push_back(std::move(layer));
    }
    check_sizes([&](const FigureSize& size) {
      return shapley_figure(shapley_table(all, 2000, 256), interactions_table(all, 2000, 256),
                            config_of(layers, heads), size);
    });
  }
}

TEST_CASE("the figures of circuits have room for their words at every size, with few heads and with many") {
  for (const Counts& counts : kModels) {
    const Index layers = counts.layers;
    const Index heads = counts.heads;
    CAPTURE(heads);
    const Config config = config_of(layers, heads);
    const Transformer model = random_model(config.model);
    const Circuits circuits = circuits_of(model);
    if (layers > 1)
      check_sizes([&](const FigureSize& size) {
        return composition_figure(composition_table(circuits, 2000, 256), config, size);
      });
    check_sizes([&](const FigureSize& size) {
      return eigenvalue_figure(eigenvalue_table(circuits, 2000, 256), config, size);
    });
    const CsvTable attribution =
        attribution_table(attribute_logits(model, evaluation_batch(config)), 2000, 256);
    check_sizes([&](const FigureSize& size) { return attribution_figure(attribution, config, size); });
  }
}

TEST_CASE("the context figure has room for its words at every size, with few checkpoints and with many") {
  for (const Index checkpoints : {1, 3, 60}) {
    CAPTURE(checkpoints);
    std::vector<ContextLosses> all;
    const std::size_t bands = position_bands(512).size();
    for (Index i = 0; i < checkpoints; ++i)
      all.push_back({i * i * 1000, std::vector<double>(bands, 3.0), std::vector<double>(bands, -0.2),
                     Estimate{-0.25, -0.3, -0.2}, 3.5, 3.25});
    Config config;
    config.task.length = 512;
    const CsvTable table = context_table(all, 512, context_options(512, {}, {}));
    check_sizes([&](const FigureSize& size) { return context_figure(table, config, size); });
  }
}

TEST_CASE("the lens figure has room for its words at every size, with few layers and with many") {
  for (const int layers : {1, 3, 13, 49}) {
    CAPTURE(layers);
    CsvTable table(
        {"layer", "loss", "loss_induction", "loss_noise", "accuracy_induction", "step", "sequences"});
    for (int layer = 0; layer < layers; ++layer)
      table.add({std::to_string(layer), "4.1", "3.25", "4.4", "1", "2000", "256"});
    check_sizes([&](const FigureSize& size) { return lens_figure(table, Config{}, size); });
  }
}

TEST_CASE("the patching figure has room for its words at every size, with few heads and with many") {
  for (const Counts& counts : kModels) {
    const Index layers = counts.layers;
    const Index heads = counts.heads;
    CAPTURE(heads);
    PatchingPairs pairs;
    pairs.clean = noise_batch(64, 48);
    pairs.query = 47;
    pairs.copies = {23};
    Patching by_head{.grid = {.to = {"1.0.keys", {keys(1, 0)}}}, .clean = -0.25, .corrupted = -3.5};
    Patching by_position{.grid = {.by = PatchBy::head_position}};
    for (Index layer = 0; layer < layers; ++layer)
      for (Index head = 0; head < heads; ++head) {
        by_head.patches.push_back({.site = head_output(layer, head), .effect = around(-1.25)});
        for (Index t = 0; t < 48; ++t)
          by_position.patches.push_back(
              {.site = head_output(layer, head), .position = t, .effect = around(0.5)});
      }
    const CsvTable table = patching_table({by_head, by_position}, pairs, 2000);
    check_sizes(
        [&](const FigureSize& size) { return patching_figure(table, config_of(layers, heads), size); });
  }
}
