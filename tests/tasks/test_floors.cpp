#include "tapehead/tasks/floors.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/folder.h"
#include "support/testing.h"
#include "tapehead/base/require.h"
#include "tapehead/tasks/copied_segment.h"
#include "tapehead/tasks/repeated_sequence.h"

namespace tapehead {

namespace {

using Sequence = std::vector<std::int32_t>;
/// Every sequence of T + 1 tokens that a task can draw, with its probability.
using Law = std::map<Sequence, double>;

constexpr View kViews[] = {View::current_token, View::last_two, View::everything};

/// Calls f for all sequences of `length` tokens.
void for_all_sequences(Index vocabulary, Index length, const std::function<void(const Sequence&)>& f) {
  Sequence sequence(static_cast<std::size_t>(length));
  for (;;) {
    f(sequence);
    std::size_t i = 0;
    while (i < sequence.size() && ++sequence[i] == vocabulary) sequence[i++] = 0;
    if (i == sequence.size()) return;
  }
}

/// By the words of the task: source[t] is the position that t repeats, or t itself.
void add_structure(Law& law, Index vocabulary, const std::vector<std::size_t>& source, double probability) {
  const auto length = static_cast<Index>(source.size());
  for_all_sequences(vocabulary, length, [&](const Sequence& sequence) {
    double chance = probability;
    for (std::size_t t = 0; t < source.size(); ++t) {
      if (source[t] == t) chance /= static_cast<double>(vocabulary);
      if (sequence[source[t]] != sequence[t]) return;
    }
    law[sequence] += chance;
  });
}

Law law_of_periods(Index vocabulary, Index length, Index shortest, Index longest) {
  Law law;
  for (Index period = shortest; period <= longest; ++period) {
    std::vector<std::size_t> source;
    for (Index t = 0; t <= length; ++t) source.push_back(static_cast<std::size_t>(t % period));
    add_structure(law, vocabulary, source, 1 / static_cast<double>(longest - shortest + 1));
  }
  return law;
}

Law law_of_copies(Index vocabulary, Index length, Index segment) {
  Law law;
  const Index tokens = length + 1;
  const Index firsts = (tokens - 2 * segment) / 2 + 1;
  for (Index first = 0; first < firsts; ++first) {
    const Index seconds = tokens - segment - (first + segment) + 1;
    for (Index second = first + segment; second <= tokens - segment; ++second) {
      std::vector<std::size_t> source;
      for (Index t = 0; t < tokens; ++t)
        source.push_back(
            static_cast<std::size_t>(t >= second && t < second + segment ? t - second + first : t));
      add_structure(law, vocabulary, source, 1 / static_cast<double>(firsts * seconds));
    }
  }
  return law;
}

struct TinyTask {
  std::string name;
  std::unique_ptr<Task> task;
  Law law;
};

std::vector<TinyTask> tiny_tasks() {
  std::vector<TinyTask> tasks;
  const auto add_periods = [&](Index vocabulary, Index length, Index shortest, Index longest) {
    tasks.push_back(
        {fmt::format("periods {} to {} of {}, {} tokens", shortest, longest, length, vocabulary),
         std::make_unique<RepeatedSequence>(RepeatedSequence::Config{vocabulary, length, shortest, longest}),
         law_of_periods(vocabulary, length, shortest, longest)});
  };
  const auto add_copies = [&](Index vocabulary, Index length, Index segment) {
    tasks.push_back({fmt::format("segment of {} in {}, {} tokens", segment, length, vocabulary),
                     std::make_unique<CopiedSegment>(CopiedSegment::Config{vocabulary, length, segment}),
                     law_of_copies(vocabulary, length, segment)});
  };
  add_periods(2, 6, 1, 4);
  add_periods(3, 5, 2, 4);
  add_periods(4, 5, 1, 3);
  tasks.push_back({"period 3 of 6, 3 tokens",
                   std::make_unique<FixedPeriodSequence>(FixedPeriodSequence::Config{3, 6, 3}),
                   law_of_periods(3, 6, 3, 3)});
  add_copies(2, 8, 2);
  add_copies(2, 8, 3);
  add_copies(3, 6, 2);
  add_copies(3, 7, 3);
  add_copies(4, 5, 2);
  return tasks;
}

/// In words, what a view shows of the first `read` tokens: another way to say it than Knowledge has.
std::string shown(View view, const Sequence& sequence, std::size_t read) {
  if (view == View::everything)
    return fmt::format(
        "{}", fmt::join(sequence.begin(), sequence.begin() + static_cast<std::ptrdiff_t>(read), " "));
  const std::size_t t = read - 1;
  std::string text = fmt::format("at {}: {}", t, sequence[t]);
  if (view == View::last_two && t > 0) text += fmt::format(" after {}", sequence[t - 1]);
  for (std::size_t k = 0; k < t; ++k) {
    if (sequence[k] != sequence[t]) continue;
    text += fmt::format("; also at {}, then {}", k, sequence[k + 1]);
    if (view == View::last_two && k > 0 && sequence[k - 1] == sequence[t - 1]) text += ", both";
  }
  return text;
}

/// What a token after `read` others is worth to each who is shown one thing: shown -> next token -> mass.
std::map<std::string, std::map<std::int32_t, double>> next_given_view(const Law& law, View view,
                                                                      std::size_t read) {
  std::map<std::string, std::map<std::int32_t, double>> masses;
  for (const auto& [sequence, mass] : law) masses[shown(view, sequence, read)][sequence[read]] += mass;
  return masses;
}

double total(const std::map<std::int32_t, double>& masses) {
  double sum = 0;
  for (const auto& entry : masses) sum += entry.second;
  return sum;
}

/// The expected loss of a predictor over all sequences and positions.
double expected_loss(const Law& law,
                     const std::function<double(const Sequence&, std::size_t)>& chance_of_next) {
  double loss = 0;
  for (const auto& [sequence, mass] : law)
    for (std::size_t read = 1; read < sequence.size(); ++read)
      loss -= mass * std::log(chance_of_next(sequence, read)) / static_cast<double>(sequence.size() - 1);
  return loss;
}

NextToken predicted(const Task& task, View view, const Sequence& sequence, std::size_t read) {
  const Knowledge knowledge(view, std::span(sequence).first(read));
  return NextToken(task.outcomes(knowledge), knowledge, task.vocabulary());
}

double floor_loss(const TinyTask& tiny, View view) {
  return expected_loss(tiny.law, [&](const Sequence& sequence, std::size_t read) {
    return predicted(*tiny.task, view, sequence, read).chance(sequence[read]);
  });
}

}  // namespace

TEST_CASE("every predictor's probabilities are those that counting all sequences gives, at every prefix") {
  for (const TinyTask& tiny : tiny_tasks()) {
    CAPTURE(tiny.name);
    double all = 0;
    for (const auto& entry : tiny.law) all += entry.second;
    REQUIRE(all == doctest::Approx(1).epsilon(1e-12));
    for (const View view : kViews)
      for (std::size_t read = 1; read <= static_cast<std::size_t>(tiny.task->length()); ++read) {
        const auto counted = next_given_view(tiny.law, view, read);
        double worst = 0;
        for (const auto& [sequence, mass] : tiny.law) {
          const NextToken next = predicted(*tiny.task, view, sequence, read);
          const std::map<std::int32_t, double>& masses = counted.at(shown(view, sequence, read));
          for (std::int32_t token = 0; token < tiny.task->vocabulary(); ++token) {
            const auto found = masses.find(token);
            const double chance = found == masses.end() ? 0 : found->second / total(masses);
            worst = std::max(worst, std::abs(next.chance(token) - chance));
          }
        }
        CAPTURE(read);
        CAPTURE(static_cast<int>(view));
        CHECK(worst < 1e-12);
      }
  }
}

TEST_CASE("who sees more loses no more: Bayes, last two, current token, chance") {
  for (const TinyTask& tiny : tiny_tasks()) {
    CAPTURE(tiny.name);
    const double chance = std::log(static_cast<double>(tiny.task->vocabulary()));
    const double current = floor_loss(tiny, View::current_token);
    const double two = floor_loss(tiny, View::last_two);
    const double bayes = floor_loss(tiny, View::everything);
    CHECK(bayes <= two + 1e-12);
    CHECK(two <= current + 1e-12);
    CHECK(current < chance);
    // Of two tokens, one that is not x_t is the other, so that every view shows all.
    if (tiny.task->vocabulary() == 2)
      CHECK(bayes == doctest::Approx(current).epsilon(1e-12));
    else
      CHECK(bayes < current);
  }
}

TEST_CASE("no plain predictor that copies what followed a match beats the best of its kind") {
  for (const TinyTask& tiny : tiny_tasks()) {
    CAPTURE(tiny.name);
    const auto vocabulary = static_cast<double>(tiny.task->vocabulary());
    for (const View view : {View::current_token, View::last_two}) {
      const double best = floor_loss(tiny, view);
      for (const double trust : {0.1, 0.3, 0.5, 0.7, 0.9}) {
        const double plain = expected_loss(tiny.law, [&](const Sequence& sequence, std::size_t read) {
          // The last match of two tokens, or else of one, or else nothing.
          const std::size_t t = read - 1;
          std::size_t match = t;
          for (std::size_t k = 0; k < t; ++k) match = sequence[k] == sequence[t] ? k : match;
          if (view == View::last_two)
            for (std::size_t k = 1; k < t; ++k)
              if (sequence[k] == sequence[t] && sequence[k - 1] == sequence[t - 1]) match = k;
          if (match == t) return 1 / vocabulary;
          return (1 - trust) / vocabulary + (sequence[match + 1] == sequence[read] ? trust : 0);
        });
        CHECK(best <= plain + 1e-12);
      }
    }
  }
}

TEST_CASE("a token's hit is its share among the likeliest, by counting as by the predictor") {
  for (const TinyTask& tiny : tiny_tasks()) {
    CAPTURE(tiny.name);
    const std::size_t read = static_cast<std::size_t>(tiny.task->length()) - 1;
    for (const View view : kViews)
      for (const auto& entry : tiny.law) {
        const NextToken next = predicted(*tiny.task, view, entry.first, read);
        double highest = 0;
        int equals = 0;
        for (std::int32_t token = 0; token < tiny.task->vocabulary(); ++token)
          highest = std::max(highest, next.chance(token));
        for (std::int32_t token = 0; token < tiny.task->vocabulary(); ++token)
          equals += next.chance(token) > highest - 1e-9 ? 1 : 0;
        for (std::int32_t token = 0; token < tiny.task->vocabulary(); ++token)
          CHECK(next.hit(token) == (next.chance(token) > highest - 1e-9 ? 1.0 / equals : 0));
      }
  }
}

TEST_CASE("with one period known, Bayes pays for the first period's tokens alone") {
  const FixedPeriodSequence task({.vocabulary = 64, .length = 48, .period = 12});
  Generator generator(1);
  const Batch batch = task.sample(generator, 5);
  const std::vector<Floor> list = floors(task, batch, 1);
  REQUIRE(list.size() == 4);
  CHECK(list[3].predictor == "Bayes");
  CHECK(list[3].loss_induction == doctest::Approx(0).epsilon(1e-12));
  CHECK(list[3].accuracy_induction == doctest::Approx(1));
  // The boundary is noise by definition; who knows the period knows its target too.
  CHECK(list[3].loss_noise == doctest::Approx(std::log(64.0) * 11 / 12));
  // One period back stands the current token, and what followed it comes again.
  CHECK(list[1].accuracy_induction == doctest::Approx(1));
}

TEST_CASE("the floors of a batch are means over its positions, in their order, on any number of threads") {
  for (const TaskConfig& config : {TaskConfig{}, TaskConfig{.name = "copied_segment"}}) {
    const std::unique_ptr<Task> task = make_task(config, 64);
    Generator generator(1);
    const Batch batch = task->sample(generator, 32);
    const std::vector<Floor> list = floors(*task, batch, 1);
    const std::vector<Floor> again = floors(*task, batch, 3);
    REQUIRE(list.size() == 4);
    const char* const names[] = {"chance", "current token", "last two", "Bayes"};
    Index induction = 0;
    for (const Kind kind : batch.kinds.values()) induction += kind == Kind::induction ? 1 : 0;
    const double share = static_cast<double>(induction) / static_cast<double>(batch.kinds.count());
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(list[i].predictor == names[i]);
      CHECK(list[i].loss == again[i].loss);
      CHECK(list[i].loss_induction == again[i].loss_induction);
      CHECK(list[i].loss_noise == again[i].loss_noise);
      CHECK(list[i].accuracy_induction == again[i].accuracy_induction);
      CHECK(share * list[i].loss_induction + (1 - share) * list[i].loss_noise ==
            doctest::Approx(list[i].loss).epsilon(1e-12));
      if (i > 0) CHECK(list[i].loss_induction < list[i - 1].loss_induction);
    }
    CHECK(list[0].loss == doctest::Approx(std::log(64.0)).epsilon(1e-12));
    CHECK(list[0].accuracy_induction == doctest::Approx(1.0 / 64));
    CHECK(list[3].accuracy_induction > 0.9);
  }
}

TEST_CASE("weights that no number can hold still give chances") {
  // 50,257^120 is far beyond the largest double.
  const CopiedSegment task({.vocabulary = 50'257, .length = 250, .segment = 120});
  Generator generator(1);
  for (const Floor& floor : floors(task, task.sample(generator, 1), 1)) {
    CAPTURE(floor.predictor);
    CHECK(std::isfinite(floor.loss));
    if (floor.predictor == "Bayes") CHECK(floor.loss_induction < 0.2);
  }
}

TEST_CASE("a text has no law, nor have sequences too long a floor but chance") {
  const testing::Folder folder;
  testing::put(folder / "text",
               "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
  const auto text =
      make_task({.name = "text", .length = 5, .file = (folder / "text").string(), .training_share = 0.5}, 26);
  Generator generator(1);
  const std::vector<Floor> list = floors(*text, text->sample(generator, 3), 1);
  REQUIRE(list.size() == 1);
  CHECK(list[0].predictor == "chance");
  CHECK(list[0].loss == doctest::Approx(std::log(26.0)));
  CHECK(std::isnan(list[0].loss_induction));

  const auto copies = make_task({.name = "copied_segment", .length = 1025}, 64);
  CHECK(floors(*copies, copies->sample(generator, 2), 1).size() == 1);
}

TEST_CASE("long sequences are fewer, but never none") {
  CHECK(floor_sequences(noise_batch(512, 128)) == 512);
  CHECK(floor_sequences(noise_batch(512, 512)) == 29);
  CHECK(floor_sequences(noise_batch(512, 100'000)) == 1);
  CHECK(floor_sequences(noise_batch(0, 8)) == 0);
  CHECK_THROWS_WITH_AS(floors(FixedPeriodSequence({}), noise_batch(0, 48), 1),
                       "[floors] a batch without sequences", Error);
}

}  // namespace tapehead
