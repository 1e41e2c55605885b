#include "tapehead/exchange/model_folder.h"

#include "support/folder.h"
#include "support/functions.h"
#include "support/models.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {
namespace fs = std::filesystem;
}

TEST_CASE("a matrix turned over has its rows as columns") {
  const Tensor wide({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor tall({3, 2});
  transpose(wide.data(), 2, 3, tall.data());
  check_close(tall, {3, 2}, {1, 4, 2, 5, 3, 6}, 0);
  // Wider than a strip, and not a multiple of it.
  const Tensor large = random_tensor({21, 37}, 1);
  Tensor turned({37, 21}), back({21, 37});
  transpose(large.data(), 21, 37, turned.data());
  transpose(turned.data(), 37, 21, back.data());
  CHECK(turned(36, 20) == large(20, 36));
  CHECK(same_bits(back, large));
}

TEST_CASE("a transposed parameter is written in the order of its new rows") {
  const Folder folder;
  Transformer model({.vocabulary = 3, .context = 1, .width = 2, .heads = 1, .layers = 0}, 1);
  set_parameter(model, "embedding.weight", {1, 4, 2, 5, 3, 6});
  TensorList list;
  list.add("turned", transposed(model.parameters().find("embedding.weight")));
  list.add("as it is", model.parameters().find("embedding.weight"));
  write_model_folder(folder / "a/b", list, {{"key", "value"}}, "{}\n");
  const SafetensorsFile archive(folder / "a/b/model.safetensors");
  check_close(archive.read("turned"), {2, 3}, {1, 2, 3, 4, 5, 6}, 0);
  check_close(archive.read("as it is"), {3, 2}, {1, 4, 2, 5, 3, 6}, 0);
  CHECK(archive.metadata().at("key") == "value");
  CHECK(text_of(folder / "a/b/config.json") == "{}\n");
}

TEST_CASE("arrays made for a list stay where they are while it grows and moves") {
  TensorList list;
  for (int i = 0; i < 100; ++i) list.add(std::to_string(i), Tensor({1}, {static_cast<Real>(i)}));
  const TensorList moved = std::move(list);
  for (int i = 0; i < 100; ++i)
    CHECK(*moved.tensors()[static_cast<std::size_t>(i)].data == static_cast<Real>(i));
}

TEST_CASE("a parameter that a model does not have is found to be none") {
  const Transformer model(attention_only(), 1);
  CHECK(find_or_none(model.parameters(), "positions.weight").owner == &model.parameters());
  CHECK(find_or_none(model.parameters(), "positions.weights").owner == nullptr);
}

TEST_CASE("a folder that cannot be made is an error, and files that are there are replaced") {
  const Folder folder;
  put(folder / "file", "");
  CHECK_THROWS_WITH_AS(
      write_model_folder(folder / "file/out", {}, {}, "{}"),
      ("[export] cannot make the folder " + (folder / "file/out").string() + ": Not a directory").c_str(),
      Error);
  put(folder / "config.json", "old");
  write_model_folder(folder.path(), {}, {}, "new");
  CHECK(text_of(folder / "config.json") == "new");
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 3);
}
