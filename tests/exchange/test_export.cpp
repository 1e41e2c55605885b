#include "tapehead/exchange/export.h"

#include <set>

#include "exchange/foreign.h"
#include "support/models.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

namespace fs = std::filesystem;

/// A model that every format can say.
ModelConfig universal() {
  ModelConfig config = small_gpt2();
  config.feed_forward = 4 * config.width;
  return config;
}

std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

}  // namespace

TEST_CASE("every format writes its files into a new folder, and only one has something to tell") {
  const Folder folder;
  const Transformer model = random_model(universal());
  std::vector<std::string> names;
  for (const ExportFormat& format : export_formats()) {
    const std::string name(format.name);
    names.push_back(name);
    const std::string note = export_model(model, name, folder / "new" / name);
    CHECK(note.empty() == (name != "nanogpt"));
    CHECK(files_in(folder / "new" / name) ==
          std::set<std::string>{"config.json", name == "npz" ? "model.npz" : "model.safetensors"});
  }
  CHECK(names == std::vector<std::string>{"gpt2", "nanogpt", "transformer-lens", "npz"});
}

TEST_CASE("an empty folder is written into, and one with something in it is not") {
  const Folder folder;
  const Transformer model = random_model(universal());
  const auto complaint = [&](const fs::path& out) {
    return complaint_of([&] { export_model(model, "gpt2", out); });
  };
  CHECK(complaint(folder.path()) == "accepted");
  CHECK(complaint(folder.path()) ==
        "[export] " + folder.path().string() + " exists and is not an empty folder");
  fs::create_directory(folder / "mine");
  put(folder / "mine/letter", "x");
  CHECK(complaint(folder / "mine") ==
        "[export] " + (folder / "mine").string() + " exists and is not an empty folder");
  CHECK(complaint(folder / "mine/letter") ==
        "[export] " + (folder / "mine/letter").string() + " exists and is not an empty folder");
  CHECK(files_in(folder / "mine") == std::set<std::string>{"letter"});
  CHECK(text_of(folder / "mine/letter") == "x");
}

TEST_CASE("a format that is not there is refused with those that are") {
  const Folder folder;
  CHECK(complaint_of([&] { export_model(random_model(universal()), "gguf", folder / "out"); }) ==
        "[export] no format 'gguf'; there are gpt2, nanogpt, transformer-lens, npz");
  CHECK_FALSE(fs::exists(folder / "out"));
}

TEST_CASE("a model that a format cannot say leaves no folder behind") {
  const Folder folder;
  const Transformer model = random_model(attention_only());
  for (const char* format : {"gpt2", "nanogpt"})
    CHECK_THROWS_AS(export_model(model, format, folder / "out"), UsageError);
  CHECK_FALSE(fs::exists(folder / "out"));
  for (const char* format : {"transformer-lens", "npz"})
    CHECK(export_model(model, format, folder / format).empty());
}
