#include "tapehead/train/config_rules.h"

#include <algorithm>

#include "support/testing.h"

using namespace tapehead;

namespace {

/// The fields to be changed, of all rules that are broken.
std::vector<std::string> broken(const Config& config) {
  std::vector<std::string> fields;
  for (const Rule& rule : rules_of(config))
    if (!rule.holds) fields.push_back(rule.fields[0]);
  return fields;
}

using Fields = std::vector<std::string>;

}  // namespace

TEST_CASE("the default config keeps every rule") { CHECK(broken(Config{}).empty()); }

TEST_CASE("sizes that no memory holds are broken rules of their own fields") {
  Config config;
  config.train.batch = 1'000'000'000'000'000;
  CHECK(broken(config) == Fields{"train.batch"});
  config = {};
  config.train.evaluation_sequences = 1'000'000'000'000'000;
  CHECK(broken(config) == Fields{"train.evaluation_sequences"});
  config = {};
  config.task.length = config.model.context = 10'000'000;
  config.train.batch = config.train.evaluation_sequences = 1;
  CHECK(broken(config) == Fields{"task.length"});
}

TEST_CASE("the tiled attention needs no memory for patterns") {
  Config config;
  config.task.length = config.model.context = 300'000;
  config.train.batch = config.train.evaluation_sequences = 1;
  CHECK(broken(config) == Fields{"task.length"});
  config.model.attention = AttentionForm::tiled;
  CHECK(broken(config).empty());
}

TEST_CASE("positions, scores and attention that cannot go together are broken rules") {
  Config config;
  config.model.positions = Positions::rotary;
  CHECK(broken(config).empty());
  config.model.heads = 64;
  CHECK(broken(config) == Fields{"model.positions"});
  config.model.heads = 2;
  config.model.scores = ScoreForm::additive;
  CHECK(broken(config) == Fields{"model.positions"});
  config.model.positions = Positions::alibi;
  CHECK(broken(config).empty());
  config.model.scaled_scores = false;
  CHECK(broken(config) == Fields{"model.scaled_scores"});
  config.model.scaled_scores = true;
  config.model.attention = AttentionForm::tiled;
  CHECK(broken(config) == Fields{"model.attention"});
  config.model.scores = ScoreForm::bilinear;
  CHECK(broken(config).empty());
  config.model.dropout = 0.1;
  CHECK(broken(config) == Fields{"model.attention"});
  config.model.dropout = 0;
  config.train.ring_snapshots = 4;
  config.train.ring_interval = 10;
  config.train.ring_score = "previous_token";
  CHECK(broken(config) == Fields{"train.ring_score"});
  config.train.ring_snapshots = 0;
  config.interventions = {{.site = "blocks.0.attention.pattern", .kind = "uniform"}};
  CHECK(broken(config) == Fields{"intervention[0].site"});
}

TEST_CASE("a text needs a file and a tokenizer") {
  Config config;
  config.task.name = "text";
  CHECK(broken(config) == Fields{"task.file"});
  config.task.file = "a";
  config.task.tokenizer = "";
  CHECK(broken(config) == Fields{"task.tokenizer"});
}

TEST_CASE("a copied segment leaves a choice of places for its copy") {
  Config config;
  config.task.name = "copied_segment";
  config.task.segment = 24;
  CHECK(broken(config).empty());
  config.task.segment = 25;
  CHECK(broken(config) == Fields{"task.segment"});
  config.task.name = "repeated_sequence";
  CHECK(broken(config).empty());
}

TEST_CASE("an identifier needs a line to return in, and all of the lines' characters") {
  Config config;
  config.task.name = "identifier";
  config.model.vocabulary = 46;
  config.task.length = 28;
  CHECK(broken(config).empty());
  config.model.vocabulary = 45;
  config.task.length = 27;
  CHECK(broken(config) == Fields{"task.length", "model.vocabulary"});
}

TEST_CASE("snapshots fit in memory and reach over two evaluations, and listed steps are within the run") {
  Config config;
  config.train.ring_snapshots = 4;
  config.train.ring_interval = 10;
  CHECK(broken(config).empty());
  config.train.ring_interval = 9;
  CHECK(broken(config) == Fields{"train.ring_snapshots"});
  config.train.ring_interval = 2001;
  CHECK(broken(config) == Fields{"train.ring_interval"});
  config = {};
  config.model.width = 1'000'000;
  config.train.ring_snapshots = 10'000;
  CHECK(broken(config) == Fields{"train.ring_snapshots"});
  config.train.ring_snapshots = 0;
  CHECK(broken(config).empty());
  config.train.checkpoint_steps = {3, 2000};
  CHECK(broken(config).empty());
  config.train.checkpoint_steps = {2001, 3};
  CHECK(broken(config) == Fields{"train.checkpoint_steps"});
}

TEST_CASE("interventions of a model far too large are judged without listing its sites") {
  Config config;
  config.model.layers = 1'000'000'000;
  config.interventions = {{.site = "blocks.999999999.residual_after"}};
  CHECK(broken(config).empty());
  config.interventions = {{.site = "blocks.1000000000.residual_after"}};
  CHECK(broken(config) == Fields{"intervention[0].site"});
}
