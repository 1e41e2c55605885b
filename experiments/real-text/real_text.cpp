// What stands in the runs of a text that is in no table of theirs: whether the vocabulary gives the text
// back, and whether the losses have a bump.
//   real_text TEXT RUN...
// Ends with status 1 where a text does not come back from a run's vocabulary byte for byte.
#include <fmt/format.h>

#include <iostream>

#include "tapehead/base/file.h"
#include "tapehead/base/require.h"
#include "tapehead/study/formation.h"
#include "tapehead/text/tokenizer.h"
#include "tapehead/train/run_directory.h"
#include "tapehead/train/run_tables.h"

using namespace tapehead;

namespace {

bool comes_back(std::string_view text, const RunDirectory& run) {
  const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(run.tokenizer_folder());
  const std::vector<std::int32_t> ids = tokenizer->encode(text);
  const bool same = tokenizer->decode(ids) == text;
  std::cout << fmt::format("{}: {} bytes in {} tokens of {}, {}\n", run.path().string(), text.size(),
                           ids.size(), tokenizer->size(),
                           same ? "which give them back" : "WHICH DO NOT GIVE THEM BACK");
  return same;
}

void tell_of_bump(const RunDirectory& run) {
  const Formation formation = formation_of(whole_metrics(run));
  if (const auto& bump = formation.bump)
    std::cout << fmt::format(
        "  loss on all positions: bends downward from step {}, furthest above the line at {}, "
        "to {}: {:.3f} nats\n",
        bump->start, bump->top, bump->end ? fmt::format("{}", *bump->end) : "the end", bump->height);
  else
    std::cout << fmt::format("  loss on all positions: no bump of {} nats\n", kLeastBump);
  if (const auto& hump = formation.hump)
    std::cout << fmt::format("  loss on noise: a hump from step {} over {}: {:.3f} nats above {:.3f}\n",
                             hump->start, hump->top, hump->height, hump->level);
  else
    std::cout << "  loss on noise: no hump\n";
}

int tell(std::span<const char* const> words) {
  if (words.size() < 3) throw UsageError("usage: real_text TEXT RUN...");
  const MappedFile text(words[1], "text");
  bool all_come_back = true;
  for (const char* path : words.subspan(2)) {
    const RunDirectory run = RunDirectory::open(path);
    all_come_back = comes_back(text.bytes(), run) && all_come_back;
    tell_of_bump(run);
  }
  return all_come_back ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return tell({argv, static_cast<std::size_t>(argc)});
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return dynamic_cast<const UsageError*>(&error) != nullptr ? 2 : 1;
  }
}
