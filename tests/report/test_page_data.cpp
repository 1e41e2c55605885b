#include "tapehead/report/page_data.h"

#include <nlohmann/json.hpp>

#include "support/finished_run.h"
#include "support/folder.h"
#include "tapehead/report/page.h"
#include "tapehead/report/page_check.h"
#include "tapehead/study/verdict.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

using Json = nlohmann::json;

Json page_of(const RunDirectory& run) { return Json::parse(page_data(run, 2).document); }

Json table_of(const Json& page, const std::string& name) {
  for (const Json& table : page["tables"])
    if (table["name"] == name) return table;
  FAIL("no table " << name);
  return {};
}

void write_page(const RunDirectory& run) { put(run.page_file(), page_text(page_data(run, 1).document)); }

/// The page with `now` in place of its first `stands`.
void falsify(const RunDirectory& run, const std::string& stands, const std::string& now) {
  std::string page = text_of(run.page_file());
  const std::size_t at = page.find(stands);
  REQUIRE(at != std::string::npos);
  put(run.page_file(), page.replace(at, stands.size(), now));
}

}  // namespace

TEST_CASE("a page's tables are the run's to the letter, each with its command") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  const Json page = page_of(run);
  CHECK(table_of(page, "metrics")["csv"] == text_of(run.metrics_file()));
  CHECK(table_of(page, "heads")["csv"] == text_of(run.heads_file()));
  CHECK_FALSE(table_of(page, "ablation").contains("csv"));
  for (const Json& table : page["tables"]) CHECK_FALSE(table["about"].get<std::string>().empty());
  CHECK(page["run"]["name"] == "run");
  CHECK(page["run"]["step"] == 10);
  CHECK(page["verdict"].is_null());
  CHECK(page["attention"]["steps"].back() == 10);
  CHECK(page["scores"].size() == 7);
}

TEST_CASE("a page is the same for any number of threads, and made twice") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  CHECK(page_data(run, 1).document == page_data(run, 3).document);
  CHECK(page_data(run, 1).faults.empty());
}

TEST_CASE("a table and a checkpoint that cannot be read are left out and named, and the rest is there") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  put(run.table_file("verdict"), "evidence,verdict\nlearnt\n");
  put(run.latest_checkpoint(), "nonsense");
  const PageData data = page_data(run, 1);
  const Json page = Json::parse(data.document);
  CHECK(page["verdict"].is_null());
  CHECK(table_of(page, "metrics")["csv"] == text_of(run.metrics_file()));
  CHECK(page["run"]["step"] < 10);
  CHECK(data.faults.size() == 2);
}

TEST_CASE("models without layers and runs of one step have pages too") {
  const Folder folder;
  Config config = tiny_config();
  config.model.layers = 0;
  config.train.steps = 0;
  config.train.warmup = 0;
  const RunDirectory run = finished_run(folder, config);
  const Json page = page_of(run);
  CHECK(page["attention"].is_null());
  CHECK(page["circuits"].is_null());
  CHECK(table_of(page, "ablation")["command"] == "");
}

TEST_CASE("a verdict on the page is the one in its table") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  const Verdict verdict{Mechanism::other, {{.name = "learnt", .value = 0.5, .threshold = 0.05}}};
  verdict_table(verdict, 10, 16).write(run.table_file("verdict"));
  const Json page = page_of(run);
  CHECK(page["verdict"]["mechanism"] == "other");
  CHECK(page["verdict"]["sentence"] == sentence(verdict));
  CHECK(page["verdict"]["evidence"][0]["finding"] == finding(verdict.evidence.front()));
}

TEST_CASE("a page that nobody touched is verified whole") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  write_page(run);
  const Verified verified = verify_page(run, {.threads = 3});
  CHECK(verified.what == "report.html");
  CHECK(verified.cells > 500);
  CHECK(verified.differences.empty());
}

TEST_CASE("another number on a page is found, in a table, in words and in a map") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  write_page(run);
  const std::string whole = text_of(run.page_file());
  const auto place_of_difference = [&](const std::string& stands, const std::string& now) {
    put(run.page_file(), whole);
    falsify(run, stands, now);
    const Verified verified = verify_page(run, {});
    REQUIRE(verified.differences.size() == 1);
    return verified.differences.front().place;
  };
  const std::string row = CsvTable::read(run.metrics_file()).cell(1, "loss");
  CHECK(place_of_difference("," + row + ",", ",9.87654,").starts_with("/tables/metrics/csv, row 2"));
  CHECK(place_of_difference("\"parameters\":", "\"parameters\":1") == "/run/parameters");
  // The first weight of all is 1, two bytes that begin so.
  CHECK(place_of_difference("\"data\":\"/3", "\"data\":\"/2") == "/attention/weights/0, number 1");
}

TEST_CASE("another word in the markup and a script that was slipped in are found") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  write_page(run);
  const std::string whole = text_of(run.page_file());
  for (const auto& [stands, now] :
       {std::pair("</body>", "<script>alert(1)</script></body>"), std::pair("<h2", "<h2 title='x'")}) {
    put(run.page_file(), whole);
    falsify(run, stands, now);
    const Verified verified = verify_page(run, {});
    REQUIRE(verified.differences.size() == 1);
    CHECK(verified.differences.front().place == "markup, style and script");
  }
  put(run.page_file(), whole);
  falsify(run, R"("version":")", R"("version":"0.)");
  CHECK(verify_page(run, {}).differences.empty());
  CHECK(verify_page(run, {}).left_out == "its markup and script, which another version wrote");
}

TEST_CASE("a table that was measured on an earlier checkpoint goes with a warning") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  const Verdict verdict{Mechanism::other, {{.name = "learnt", .value = 0.5, .threshold = 0.05}}};
  verdict_table(verdict, 10, 16).write(run.table_file("verdict"));
  CHECK(page_data(run, 1).warnings.empty());
  verdict_table(verdict, 5, 16).write(run.table_file("verdict"));
  REQUIRE(page_data(run, 1).warnings.size() == 1);
  CHECK(page_data(run, 1).warnings.front() ==
        run.table_file("verdict").string() + " tells of step 5, and the page of step 10");
}

TEST_CASE("a page is behind when its run has gone on, and where it stood does not matter") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  write_page(run);
  std::filesystem::rename(folder / "run", folder / "moved");
  const RunDirectory moved = RunDirectory::open(folder / "moved");
  CHECK(verify_page(moved, {}).differences.empty());
  CsvTable metrics = CsvTable::read(moved.metrics_file());
  metrics.drop_above("step", 5);
  metrics.write(moved.metrics_file());
  CHECK_FALSE(verify_page(moved, {}).differences.empty());
}

TEST_CASE("what is no page, or a damaged one, is an error in words") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  put(run.page_file(), "<!doctype html>");
  CHECK_THROWS_WITH_AS(verify_page(run, {}), doctest::Contains("a page that tapehead report wrote"), Error);
  put(run.page_file(), page_text("{\"run\":"));
  CHECK_THROWS_WITH_AS(verify_page(run, {}), doctest::Contains("damaged"), Error);
  put(run.page_file(), page_text("[1,{\"scale\":\"x\",\"data\":3}]"));
  CHECK_FALSE(verify_page(run, {}).differences.empty());
}
