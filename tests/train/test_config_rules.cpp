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
