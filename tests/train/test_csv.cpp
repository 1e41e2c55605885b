#include "tapehead/train/csv.h"

#include <cmath>
#include <vector>

#include "support/folder.h"
#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

using Row = std::vector<std::string>;

CsvTable losses() {
  CsvTable table({"step", "loss", "note"});
  table.add({"0", "4.25", "before"});
  table.add({"10", "", ""});
  table.add({"20", "1e-3", "after"});
  return table;
}

}  // namespace

TEST_CASE("a table is written as one header line and one line a row, and reads back the same") {
  const Folder folder;
  losses().write(folder / "t.csv");
  CHECK(text_of(folder / "t.csv") == "step,loss,note\n0,4.25,before\n10,,\n20,1e-3,after\n");

  const CsvTable table = CsvTable::read(folder / "t.csv");
  CHECK(table.columns() == Row{"step", "loss", "note"});
  CHECK(table.rows() == 3);
  CHECK(table.cell(0, "note") == "before");
  CHECK(table.cell(1, "note") == "");
  table.write(folder / "again.csv");
  CHECK(text_of(folder / "again.csv") == text_of(folder / "t.csv"));
}

TEST_CASE("writing a table replaces the file and leaves no other behind") {
  const Folder folder;
  put(folder / "t.csv",
      "old and longer than what comes\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n");
  CsvTable table({"a"});
  table.write(folder / "t.csv");
  CHECK(text_of(folder / "t.csv") == "a\n");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("cells are numbers where they are read as such, and empty ones are NaN") {
  const CsvTable table = losses();
  CHECK(table.number(0, "loss") == 4.25);
  CHECK(table.number(2, "loss") == 1e-3);
  CHECK(std::isnan(table.number(1, "loss")));
  const std::vector<double> values = table.numbers("loss");
  REQUIRE(values.size() == 3);
  CHECK(values[0] == 4.25);
  CHECK(std::isnan(values[1]));
  CHECK(table.numbers("step") == std::vector<double>{0, 10, 20});
}

TEST_CASE("a cell that is no number is not read as one") {
  CHECK_THROWS_WITH_AS(losses().number(0, "note"),
                       "[csv] expected a number in column note of row 1, got \"before\"", Error);
  CHECK_THROWS_AS(losses().numbers("note"), Error);
  for (const char* text : {"1.5x", "1 ", " 1", "0x10", "1;2", "-", "nan", "inf", "-inf", "1e999"}) {
    CAPTURE(text);
    CsvTable table({"a"});
    table.add({text});
    CHECK_THROWS_AS(table.number(0, "a"), Error);
  }
}

TEST_CASE("a whole number is one from 0 on that is exact") {
  CHECK(losses().whole_number(2, "step") == 20);
  for (const char* text : {"", "-1", "2.5", "1e16", "1e300", "word"}) {
    CAPTURE(text);
    CsvTable table({"a"});
    table.add({text});
    CHECK_THROWS_AS(table.whole_number(0, "a"), Error);
  }
  CHECK_THROWS_WITH_AS(losses().whole_number(1, "loss"),
                       "[csv] expected a whole number in column loss of row 2, got \"\"", Error);
}

TEST_CASE("a column that is not there is an error with the nearest name, and a row that is not there too") {
  const CsvTable table = losses();
  CHECK(table.has("loss"));
  CHECK_FALSE(table.has("los"));
  CHECK_THROWS_WITH_AS(table.cell(0, "los"), "[csv] no column los; the nearest is \"loss\"", Error);
  CHECK_THROWS_WITH_AS(CsvTable({"a"}).cell(0, "a"), "[csv] no row 0 of 0", Error);
  CHECK_THROWS_AS(table.cell(3, "loss"), Error);
  CHECK_THROWS_AS(table.cell(-1, "loss"), Error);
}

TEST_CASE("what is wrong with a table that was read is said with its file") {
  const Folder folder;
  put(folder / "a.csv", "step,loss\n0,4\n5,x\n");
  const CsvTable table = CsvTable::read(folder / "a.csv");
  const std::string place = "[csv] " + (folder / "a.csv").string() + ":";
  CHECK_THROWS_WITH_AS(table.numbers("loss"),
                       (place + " expected a number in column loss of row 2, got \"x\"").c_str(), Error);
  CHECK_THROWS_WITH_AS(table.number(0, "stop"), (place + " no column stop; the nearest is \"step\"").c_str(),
                       Error);
  put(folder / "b.csv", "step,loss\n0,4\n5,x\n");
  CHECK(table == CsvTable::read(folder / "b.csv"));
}

TEST_CASE("a row of another length, and a cell that would break the format, are refused") {
  CsvTable table({"a", "b"});
  CHECK_THROWS_WITH_AS(table.add({"1"}), "[csv] expected 2 cells, got 1", Error);
  CHECK_THROWS_AS(table.add({"1", "2", "3"}), Error);
  for (const char* cell : {"1,2", "say \"so\"", "two\nlines", "back\r"}) {
    CAPTURE(cell);
    CHECK_THROWS_AS(table.add({"1", cell}), Error);
  }
  CHECK(table.rows() == 0);
}

TEST_CASE("a faulty file is an error that names the file and the line") {
  const Folder folder;
  const std::string file = (folder / "t.csv").string();
  CHECK_THROWS_WITH_AS(CsvTable::read(file),
                       ("[csv] cannot read " + file + ": No such file or directory").c_str(), Error);
  put(file, "");
  CHECK_THROWS_WITH_AS(CsvTable::read(file), ("[csv] cannot read a header line from " + file).c_str(), Error);
  put(file, "\n1,2\n");
  CHECK_THROWS_WITH_AS(CsvTable::read(file), ("[csv] cannot read a header line from " + file).c_str(), Error);
  put(file, "a,b\n1,2\n3\n");
  CHECK_THROWS_WITH_AS(CsvTable::read(file), ("[csv] " + file + ":3: expected 2 cells, got 1").c_str(),
                       Error);
  put(file, "a,b\n1,2,3\n");
  CHECK_THROWS_WITH_AS(CsvTable::read(file), ("[csv] " + file + ":2: expected 2 cells, got 3").c_str(),
                       Error);
  CHECK_THROWS_AS(CsvTable::read(folder.path()), Error);
}

TEST_CASE("a header without rows is a table without rows") {
  const Folder folder;
  put(folder / "t.csv", "a,b\n");
  const CsvTable table = CsvTable::read(folder / "t.csv");
  CHECK(table.rows() == 0);
  CHECK(table.columns() == Row{"a", "b"});
  CHECK(table.numbers("b").empty());
}

TEST_CASE("appending gives a new file its header, and from then on adds the rows alone") {
  const Folder folder;
  CsvTable first({"a", "b"});
  first.add({"1", "2"});
  first.append_to(folder / "t.csv");
  CHECK(text_of(folder / "t.csv") == "a,b\n1,2\n");
  CsvTable more({"a", "b"});
  more.add({"3", ""});
  more.add({"", "4"});
  more.append_to(folder / "t.csv");
  CHECK(text_of(folder / "t.csv") == "a,b\n1,2\n3,\n,4\n");
  CHECK(CsvTable::read(folder / "t.csv").rows() == 3);
}

TEST_CASE("a last line that a dying program did not end is passed over") {
  const Folder folder;
  for (const char* rest : {"3", "3,4", "3,4,5"}) {
    CAPTURE(rest);
    put(folder / "t.csv", std::string("a,b\n1,2\n") + rest);
    const CsvTable table = CsvTable::read(folder / "t.csv");
    CHECK(table.rows() == 1);
    CHECK(table.cell(0, "b") == "2");
  }
  put(folder / "t.csv", "a,b");
  CHECK_THROWS_WITH_AS(CsvTable::read(folder / "t.csv"),
                       ("[csv] cannot read a header line from " + (folder / "t.csv").string()).c_str(),
                       Error);
}

TEST_CASE("a disk that refuses is an error") {
  const Folder folder;
  const std::string missing = (folder / "missing" / "t.csv").string();
  CHECK_THROWS_AS(losses().write(missing), Error);
  CHECK_THROWS_WITH_AS(losses().append_to(missing),
                       ("[csv] cannot write " + missing + ": No such file or directory").c_str(), Error);

  std::filesystem::create_directories(folder / "taken" / "inside");
  CHECK_THROWS_AS(losses().write(folder / "taken"), Error);
  CHECK(std::filesystem::is_directory(folder / "taken" / "inside"));
}

TEST_CASE("dropping above a limit keeps the rows at it and those without a number") {
  CsvTable table = losses();
  table.drop_above("step", 10);
  CHECK(table.numbers("step") == std::vector<double>{0, 10});
  table.drop_above("loss", 1);
  CHECK(table.numbers("step") == std::vector<double>{10});
  table.drop_above("step", -1);
  CHECK(table.rows() == 0);
  table = losses();
  CHECK_THROWS_WITH_AS(table.drop_above("stop", 1), "[csv] no column stop; the nearest is \"step\"", Error);
  CHECK(table.rows() == 3);
}

TEST_CASE("a table comes back from its text, and errors give the text's name") {
  CHECK(CsvTable::parse(losses().text(), "x") == losses());
  CHECK(losses().text().starts_with("step,loss,note\n0,4.25,before\n"));
  CHECK_THROWS_WITH_AS(CsvTable::parse("a,b\n1\n", "there"), doctest::Contains("there:2: expected 2 cells"),
                       Error);
  CHECK_THROWS_WITH_AS(CsvTable::parse("", "there"), doctest::Contains("header line from there"), Error);
}
