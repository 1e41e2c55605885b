#include "tapehead/tasks/text_windows.h"

#include <set>

#include "support/byte_pairs.h"
#include "support/folder.h"
#include "support/reference.h"
#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// 100 characters, each of which tells where it stands: the last ten are in another script.
std::string numbered_text() {
  std::string text;
  for (int i = 0; i < 90; ++i) text += static_cast<char>('!' + i);
  for (int i = 0; i < 10; ++i) text += std::string("\xCE") + static_cast<char>(0xB1 + i);
  return text;
}

TextWindows::Config config_for(const std::filesystem::path& file) {
  return {.file = file, .vocabulary = 100, .length = 5};
}

}  // namespace

TEST_CASE("windows of training and of what is held out never share a character") {
  const Folder folder;
  put(folder / "text", numbered_text());
  const TextWindows task(config_for(folder / "text"));
  CHECK(task.training_tokens().size() == 90);
  CHECK(task.held_out_tokens().size() == 10);
  Generator generator(1);
  std::set<std::int32_t> trained, held_out;
  const Batch training = task.sample(generator, 2000);
  const Batch evaluation = task.sample_held_out(generator, 200);
  for (const auto& [batch, seen] : {std::pair(&training, &trained), std::pair(&evaluation, &held_out)})
    for (const Tokens* tokens : {&batch->inputs, &batch->targets})
      seen->insert(tokens->values().begin(), tokens->values().end());
  // Ids are in the order of the characters, and all places come up.
  CHECK(trained.size() == 90);
  CHECK(*trained.begin() == 0);
  CHECK(*trained.rbegin() == 89);
  CHECK(held_out.size() == 10);
  CHECK(*held_out.begin() == 90);
}

TEST_CASE("a window is as it stands in the text, and the target is the token after") {
  const Folder folder;
  put(folder / "text", numbered_text());
  const TextWindows task(config_for(folder / "text"));
  Generator generator(2);
  const Batch batch = task.sample(generator, 50);
  CHECK(batch.length() == 5);
  for (Index b = 0; b < batch.size(); ++b)
    for (Index t = 0; t < 5; ++t) {
      CHECK(batch.targets(b, t) == batch.inputs(b, t) + 1);
      if (t > 0) CHECK(batch.inputs(b, t) == batch.inputs(b, t - 1) + 1);
      CHECK(batch.kinds(b, t) == Kind::noise);
      CHECK(batch.earlier_copy(b, t) == -1);
    }
}

TEST_CASE("a position can be copied where its token was followed by its target before") {
  const Folder folder;
  put(folder / "text", "abcabdabcab" + std::string(40, 'e'));
  TextWindows::Config config = config_for(folder / "text");
  config.length = 10;
  config.training_share = 11.0 / 51;
  const TextWindows task(config);
  REQUIRE(task.training_tokens().size() == 11);
  Generator generator(1);
  const Batch batch = task.sample(generator, 1);  // the one window there is
  //                                     a  b  c  a  b  d  a  b  c  a
  const std::vector<std::int32_t> copies{-1, -1, -1, 0, -1, -1, 3, 1, 2, 6};
  for (Index t = 0; t < 10; ++t) {
    CAPTURE(t);
    CHECK(batch.earlier_copy(0, t) == copies[static_cast<std::size_t>(t)]);
    CHECK(batch.kinds(0, t) == (copies[static_cast<std::size_t>(t)] < 0 ? Kind::noise : Kind::induction));
  }
}

TEST_CASE("a target that is not known repeats nothing") {
  Batch batch = noise_batch(1, 4);
  batch.inputs = Tokens(1, 4, {5, 0, 5, 0});
  batch.targets = Tokens(1, 4, {0, 5, 0, -1});
  mark_repeats(batch, 0);
  CHECK(batch.earlier_copy == Tokens(1, 4, {-1, -1, 0, -1}));
  CHECK(batch.kinds(0, 2) == Kind::induction);
  CHECK(batch.kinds(0, 3) == Kind::noise);
}

TEST_CASE("all that is held out comes in windows side by side") {
  const Folder folder;
  put(folder / "text", numbered_text());
  TextWindows::Config config = config_for(folder / "text");
  config.training_share = 0.5;
  config.length = 7;
  const Batch all = TextWindows(config).held_out();
  REQUIRE(all.size() == 7);  // of 50 tokens, 49 have one before them
  std::int32_t expected = 50;
  for (const std::int32_t id : all.inputs.values()) CHECK(id == expected++);
}

TEST_CASE("a text is cut by characters, not by bytes") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 50; ++i) text += "\xE2\x82\xAC";  // €
  put(folder / "text", text + std::string(50, 'x'));
  TextWindows::Config config = config_for(folder / "text");
  config.training_share = 0.4;
  const TextWindows task(config);
  CHECK(task.training_tokens().size() == 40);
  CHECK(task.held_out_tokens().size() == 60);
}

TEST_CASE("what a text cannot be used for is said before anything is trained") {
  const Folder folder;
  put(folder / "text", numbered_text());
  const std::string name = (folder / "text").string();
  TextWindows::Config config = config_for(folder / "text");
  config.vocabulary = 99;
  CHECK(complaint_of([&] { TextWindows{config}; }) ==
        "[text] " + name +
            " has a vocabulary of 100 tokens, the model one of 99: set model.vocabulary = 100");
  config = config_for(folder / "text");
  config.length = 10;
  CHECK(complaint_of([&] { TextWindows{config}; }) ==
        "[text] the part of " + name +
            " that is held out has 10 tokens, too few for a window of 10 and the token "
            "after: set task.length or task.training_share");
  config = config_for(folder / "none");
  CHECK(failure_of([&] { TextWindows{config}; }) ==
        "[text] cannot read " + (folder / "none").string() + ": No such file or directory");
  put(folder / "bytes", "abc\xFFxyz");
  CHECK(failure_of([&] { TextWindows{config_for(folder / "bytes")}; }) ==
        "[text] " + (folder / "bytes").string() +
            ": expected UTF-8, got the byte 0xff at offset 3; iconv turns other encodings into it");
  put(folder / "empty", "");
  CHECK(complaint_of([&] { TextWindows{config_for(folder / "empty")}; }) ==
        "[text] " + (folder / "empty").string() + " is empty");
}

TEST_CASE("another text, another cut and another tokenizer have other fingerprints") {
  const Folder folder;
  std::string text = numbered_text();
  put(folder / "text", text);
  put(folder / "same", text);
  std::swap(text[3], text[70]);
  put(folder / "other", text);
  const std::string fingerprint = TextWindows(config_for(folder / "text")).fingerprint();
  CHECK(fingerprint.size() == 16);
  CHECK(TextWindows(config_for(folder / "same")).fingerprint() == fingerprint);
  CHECK(TextWindows(config_for(folder / "other")).fingerprint() != fingerprint);
  TextWindows::Config cut = config_for(folder / "text");
  cut.training_share = 0.8;
  CHECK(TextWindows(cut).fingerprint() != fingerprint);
}

TEST_CASE("Shakespeare in GPT-2's tokens, cut at nine tenths of its characters, has the published counts") {
  const auto text = reference_data("text/tinyshakespeare.txt");
  const auto tokenizer = reference_data("gpt2-tokenizer");
  if (!text || !tokenizer) return;
  const TextWindows task({.file = *text, .tokenizer = *tokenizer, .vocabulary = 50257, .length = 64});
  CHECK(task.training_tokens().size() == 301966);
  CHECK(task.held_out_tokens().size() == 36059);
  CHECK(task.tokenizer()->size() == 50257);
}
