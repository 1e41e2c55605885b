#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/json.h"
#include "tapehead/app/table.h"
#include "tapehead/base/file.h"
#include "tapehead/base/require.h"
#include "tapehead/text/byte_pair_tokenizer.h"
#include "tapehead/text/display.h"
#include "tapehead/text/merge_training.h"

namespace tapehead::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTrain = "train";
constexpr int kMostColumns = 32;  // of a token in a table

/// What is there is not written over: another tokenizer may belong to a run.
void require_new_folder(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !(fs::is_directory(folder, ignored) && fs::is_empty(folder, ignored)))
    throw UsageError(fmt::format("--out: {} is there already; name a new folder", folder.string()));
}

void make_folder(const fs::path& folder) {
  std::error_code refusal;
  fs::create_directories(folder, refusal);
  require(!refusal, "[tokenizer] cannot make the folder {}: {}", folder.string(), refusal.message());
}

/// What came out, and what the text is in its tokens.
struct Outcome {
  std::string text;
  std::string folder;
  Index asked = 0;
  LearntVocabulary learnt = {};
  std::size_t bytes = 0;
  std::size_t tokens = 0;

  double bytes_per_token() const { return static_cast<double>(bytes) / static_cast<double>(tokens); }
};

/// The token as the vocabulary has it, which is fit to be shown.
std::string token_of(const Outcome& outcome, std::int32_t id) {
  return outcome.learnt.tokens[static_cast<std::size_t>(id)];
}

void print_json(const Outcome& outcome) {
  const LearntVocabulary& learnt = outcome.learnt;
  nlohmann::ordered_json document{{"text", outcome.text},
                                  {"folder", outcome.folder},
                                  {"vocabulary", learnt.size()},
                                  {"asked", outcome.asked},
                                  {"words", learnt.words},
                                  {"distinct_words", learnt.distinct_words},
                                  {"bytes", outcome.bytes},
                                  {"tokens", outcome.tokens},
                                  {"bytes_per_token", outcome.bytes_per_token()},
                                  {"merges", nlohmann::ordered_json::array()}};
  for (const LearntMerge& merge : learnt.merges)
    document["merges"].push_back({{"left", token_of(outcome, merge.left)},
                                  {"right", token_of(outcome, merge.right)},
                                  {"count", merge.count}});
  std::cout << json_text(document);
}

void print_text(const Outcome& outcome) {
  const LearntVocabulary& learnt = outcome.learnt;
  const auto merges = static_cast<Index>(learnt.merges.size());
  TextTable table({"merge", "of", "and", "which stand together"});
  for (Index rank = 0; rank < merges; ++rank) {
    if (rank >= 8 && rank < merges - 2) continue;
    const LearntMerge& merge = learnt.merges[static_cast<std::size_t>(rank)];
    const auto part = [&](std::int32_t id) { return cut_to_width(token_of(outcome, id), kMostColumns); };
    table.add({std::to_string(rank + 1), part(merge.left), part(merge.right), grouped(merge.count)});
  }
  std::cout << fmt::format("{} tokens learnt from {}: {} word{}, {} of them different\n",
                           grouped(learnt.size()), outcome.text, grouped(learnt.words),
                           learnt.words == 1 ? "" : "s", grouped(learnt.distinct_words));
  if (learnt.size() < outcome.asked)
    std::cout << fmt::format("fewer than the {} asked for: every word is one token by now\n",
                             grouped(outcome.asked));
  if (merges > 0) std::cout << "\n" << table.text() << "\nĠ is a space, Ċ the end of a line; ";
  std::cout << fmt::format("the text is {} token{} of {} bytes each in the mean\nwrote {}\n",
                           grouped(static_cast<long long>(outcome.tokens)), outcome.tokens == 1 ? "" : "s",
                           decimals(outcome.bytes_per_token(), 2), outcome.folder);
}

Arguments train_arguments() {
  Arguments arguments("tokenizer train", "Learns a vocabulary for byte-pair encoding from a text in UTF-8.",
                      "TEXT");
  arguments.options()("vocabulary", "how many tokens, the 256 single bytes among them",
                      cxxopts::value<std::string>(), "N");
  arguments.options()("out", "a new folder for vocab.json and merges.txt, which task.tokenizer may name",
                      cxxopts::value<std::string>(), "FOLDER");
  arguments.options()("end-of-text", "let the last of the tokens be <|endoftext|>");
  arguments.add_json();
  arguments.epilogue(
      "\nThe pair of tokens that stands together most often becomes one token, again and again, within the\n"
      "words of GPT-2's pattern. Of equal counts the pair with the lower ids comes first, so that a text "
      "has\n"
      "one outcome. It ends early where every word is one token.\n");
  return arguments;
}

int train(const Arguments& arguments) {
  for (const char* option : {"vocabulary", "out"})
    if (!arguments.has(option) || arguments.text(option).empty())
      throw UsageError(fmt::format("--{} is missing; see tapehead tokenizer train --help", option));
  const fs::path folder = arguments.text("out");
  const MergeTrainingConfig config{.vocabulary = arguments.number("vocabulary", 0),
                                   .end_of_text = arguments.flag("end-of-text")};
  require_new_folder(folder);

  Outcome outcome{.text = arguments.positional(), .folder = folder.string(), .asked = config.vocabulary};
  const MappedFile file(outcome.text, "tokenizer");
  outcome.learnt = learn_vocabulary(file.bytes(), outcome.text, config);
  const BytePairTokenizer tokenizer(outcome.learnt.vocabulary_file(), outcome.learnt.merges_file());
  outcome.bytes = file.bytes().size();
  outcome.tokens = tokenizer.encode(file.bytes()).size();
  make_folder(folder);
  tokenizer.save(folder);
  arguments.flag("json") ? print_json(outcome) : print_text(outcome);
  return 0;
}

}  // namespace

int tokenizer_command(const Words& words) {
  const bool is_train = !words.empty() && words.front() == kTrain;
  if (!is_train && (words.empty() || !words.front().starts_with('-')))
    throw UsageError(
        fmt::format("tokenizer: expected the word {} first, got {}; see tapehead tokenizer --help", kTrain,
                    words.empty() ? "nothing" : "'" + words.front() + "'"));
  Arguments arguments = train_arguments();
  if (!arguments.parse(Words(words.begin() + (is_train ? 1 : 0), words.end()))) return 0;
  return train(arguments);
}

}  // namespace tapehead::app
