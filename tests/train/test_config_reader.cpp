#include "tapehead/train/config_reader.h"

#include "support/testing.h"

using namespace tapehead;

TEST_CASE("every field that was given has its place, and an override takes it over") {
  Config config;
  Places places;
  read_config_text("[model]\nlayers = 3\n[[intervention]]\nsite = \"embedding\"", "x.toml", config, places);
  CHECK(config.model.layers == 3);
  CHECK(places == Places{{"model.layers", "x.toml:2:10:"},
                         {"intervention[0]", "x.toml:3:1:"},
                         {"intervention[0].site", "x.toml:4:8:"}});
  read_override("model.layers=4", config, places);
  read_override("intervention=[{head=1}]", config, places);
  CHECK(config.model.layers == 4);
  CHECK(config.interventions == std::vector<Intervention>{{.site = "", .head = 1}});
  CHECK(places == Places{{"model.layers", "--set model.layers=4:"},
                         {"intervention[0]", "--set intervention=[{head=1}]:"},
                         {"intervention[0].head", "--set intervention=[{head=1}]:"}});
}
