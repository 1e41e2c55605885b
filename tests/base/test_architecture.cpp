/// The house keeps its shape: floors include only floors below, names match, and one floor speaks to BLAS.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "support/testing.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

constexpr std::array kFloors{"base",  "tensor",   "kernels", "autograd", "nn",     "text", "tasks",
                             "train", "exchange", "interp",  "study",    "report", "app"};
constexpr const char* kFrontDoor = "tapehead.h";

/// The floor's number from below; the front door stands beside the last. Nothing for a name that is no floor.
std::optional<std::ptrdiff_t> floor_number(const std::string& name) {
  const auto* found = std::find(kFloors.begin(), kFloors.end(), name == kFrontDoor ? "app" : name);
  if (found == kFloors.end()) return std::nullopt;
  return found - kFloors.begin();
}

/// What a line includes, between quotes or angle brackets, or nothing.
std::string included_by(std::string line) {
  std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '"' || c == '<' || c == '>'; });
  const std::string directive = "#include";
  return line.starts_with(directive) ? line.substr(directive.size()) : "";
}

/// Every fault of one file of a floor, each as `file:line: what`.
std::vector<std::string> faults_of(const std::string& floor, const std::string& file, std::istream& text) {
  const std::string ours = "tapehead/";
  std::vector<std::string> faults;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    const std::string where = file + ":" + std::to_string(number) + ": ";
    const std::string path = included_by(line);
    if (path.starts_with(ours)) {
      const std::string name = path.substr(ours.size(), path.find('/', ours.size()) - ours.size());
      const auto included = floor_number(name);
      if (!included)
        faults.push_back(where + "includes " + name + ", which is no floor");
      else if (*included > *floor_number(floor))
        faults.push_back(where + floor + " includes " + name + ", a floor above it");
    } else if (!path.empty() && line.find('"') != line.npos) {
      faults.push_back(where + "includes a file that is not under tapehead/");
    }
    for (const char* blas : {"cblas", "xtensor-blas", "xt::blas", "xt::linalg"})
      if (floor != "tensor" && line.find(blas) != line.npos)
        faults.push_back(where + floor + " names " + blas + ", which only tensor may");
  }
  return faults;
}

std::vector<std::string> faults_of(const std::string& floor, const std::string& text) {
  std::istringstream stream(text);
  return faults_of(floor, "x.h", stream);
}

/// The code under a folder of the project, each relative to that folder.
std::vector<fs::path> code_under(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
      files.push_back(entry.path().lexically_relative(folder));
  std::sort(files.begin(), files.end());
  return files;
}

const fs::path kProject = TAPEHEAD_SOURCE_DIR;
const fs::path kHeaders = kProject / "include" / "tapehead";
const fs::path kSources = kProject / "src";
const fs::path kTests = kProject / "tests";

}  // namespace

TEST_CASE("the search for includes sees a floor above, an unknown floor and a name of BLAS") {
  CHECK(faults_of("base", "#include \"tapehead/tensor/tensor.h\"\n") ==
        std::vector<std::string>{"x.h:1: base includes tensor, a floor above it"});
  CHECK(faults_of("nn", "\n  # include <tapehead/train/trainer.h>\n") ==
        std::vector<std::string>{"x.h:2: nn includes train, a floor above it"});
  CHECK(faults_of("nn", "#include \"tapehead/tapehead.h\"\n") ==
        std::vector<std::string>{"x.h:1: nn includes tapehead.h, a floor above it"});
  CHECK(faults_of("nn", "#include \"tapehead/tools/tools.h\"\n") ==
        std::vector<std::string>{"x.h:1: includes tools, which is no floor"});
  CHECK(faults_of("nn", "#include \"linear.h\"\n") ==
        std::vector<std::string>{"x.h:1: includes a file that is not under tapehead/"});
  CHECK(faults_of("nn", "#include <cblas.h>\n") ==
        std::vector<std::string>{"x.h:1: nn names cblas, which only tensor may"});
  CHECK(faults_of("kernels", "  c = xt::linalg::dot(a, b);\n").size() == 1);

  CHECK(faults_of("tensor", "#include <cblas.h>\n#include <xtensor-blas/xblas.hpp>\n").empty());
  CHECK(faults_of("nn", "#include <vector>\n#include \"tapehead/nn/a.h\"\n#include \"tapehead/base/b.h\"\n")
            .empty());
  CHECK(faults_of("app", "#include \"tapehead/tapehead.h\"\n").empty());
  CHECK(faults_of(kFrontDoor, "#include \"tapehead/report/page.h\"\n").empty());
}

TEST_CASE("no floor includes one above it, and only the tensor floor names BLAS") {
  int read = 0;
  for (const fs::path& folder : {kHeaders, kSources})
    for (const fs::path& file : code_under(folder)) {
      const std::string floor = file.begin()->string();
      CAPTURE(file.string());
      REQUIRE_MESSAGE(floor_number(floor).has_value(), floor << " is no floor");
      std::ifstream text(folder / file);
      REQUIRE(text.is_open());
      for (const std::string& fault :
           faults_of(floor, (folder / file).lexically_relative(kProject).string(), text))
        FAIL_CHECK(fault);
      ++read;
    }
  CHECK(read >= 10);
}

TEST_CASE("every source has the header of its stem, or is a command that commands.h declares") {
  std::ifstream file(kHeaders / "app" / "commands.h");
  const std::string commands{std::istreambuf_iterator<char>(file), {}};
  for (const fs::path& source : code_under(kSources)) {
    if (source == fs::path("app") / "main.cpp") continue;
    CAPTURE(source.string());
    CHECK(source.extension() == ".cpp");
    const bool is_command = source.begin()->string() == "app" &&
                            commands.find("int " + source.stem().string() + "(") != commands.npos;
    // What a build with MPI has in place of another file declares the same.
    const bool in_its_place = source.parent_path().filename() == "mpi";
    const fs::path folder = in_its_place ? source.parent_path().parent_path() : source.parent_path();
    CHECK((is_command || fs::exists(kHeaders / folder / (source.stem().string() + ".h"))));
  }
}

TEST_CASE("every test has the stem of the header it tests") {
  const std::array of_the_whole{
      fs::path("base") / "test_architecture.cpp", fs::path("exchange") / "test_gpt2_small.cpp",
      fs::path("report") / "test_figure_sizes.cpp", fs::path("train") / "test_golden.cpp"};
  for (const fs::path& file : code_under(kTests)) {
    const std::string name = file.filename().string();
    if (!name.starts_with("test_")) continue;
    if (std::find(of_the_whole.begin(), of_the_whole.end(), file) != of_the_whole.end()) continue;
    CAPTURE(file.string());
    const std::string header =
        fs::path(name.substr(std::string("test_").size())).replace_extension(".h").string();
    CHECK(fs::exists(kHeaders / file.parent_path() / header));
  }
}

}  // namespace tapehead
