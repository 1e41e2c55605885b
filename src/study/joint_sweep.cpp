#include "tapehead/study/joint_sweep.h"

#include <chrono>
#include <sstream>
#include <string>
#include <thread>

#include "tapehead/base/digest.h"
#include "tapehead/base/require.h"
#include "tapehead/train/joint_run.h"

namespace tapehead {

namespace {

// What ranks write to one another: a word, the run, and what belongs to it.
constexpr std::string_view kNext = "next";        // to rank 0: what is there to do?
constexpr std::string_view kLeave = "leave";      // to rank 0: this one has had enough
constexpr std::string_view kReached = "reached";  // to rank 0: run, step
constexpr std::string_view kEnded = "ended";      // to rank 0: run, status, failure
constexpr std::string_view kTake = "take";        // from rank 0: run
constexpr std::string_view kDone = "done";        // from rank 0: there is nothing left

bool wishes_to_stop(const SweepObserver& observer) { return observer.should_stop && observer.should_stop(); }

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

/// What decides all runs of a sweep, in a few letters.
std::string digest_of(const std::vector<Setting>& settings) {
  Digest digest;
  for (const Setting& setting : settings) {
    digest.add(setting.path.string());
    digest.add(to_toml(setting.config));
  }
  return digest.text();
}

/// Rank 0: hands out the runs, and trains those that come to itself.
class RunQueue {
 public:
  RunQueue(const std::vector<Setting>& settings, Ranks& ranks, const SweepObserver& observer)
      : settings_(settings), ranks_(ranks), observer_(observer), results_(settings.size()) {}

  std::vector<SweepResult> run() {
    while (const std::optional<std::size_t> run = next()) train(*run);
    while (gone_ < ranks_.count() - 1) {
      serve();
      rest();
    }
    return std::move(results_);
  }

 private:
  std::optional<std::size_t> next() {
    if (wishes_to_stop(observer_) || next_ == settings_.size()) return std::nullopt;
    return next_++;
  }

  void train(std::size_t run) {
    const auto reached = [&](const Trainer& trainer) {
      if (observer_.reached) observer_.reached(run, trainer.step());
      serve();
    };
    const RunObserver of_run{
        .stepped = [&](const Trainer& trainer, const Trainer::StepReport&) { reached(trainer); },
        .should_stop = [&] { return wishes_to_stop(observer_); }};
    end(run, complete_setting(settings_[run], of_run, reached));
  }

  void end(std::size_t run, SweepResult result) {
    results_[run] = std::move(result);
    if (observer_.ended) observer_.ended(run, results_[run]);
  }

  /// Answers whatever has come.
  void serve() {
    while (const std::optional<Transport::Message> message = ranks_.receive()) {
      std::istringstream words(message->text);
      std::string word;
      std::size_t run = 0;
      words >> word;
      if (word == kNext) {
        answer(message->from);
      } else if (word == kLeave) {
        ++gone_;
      } else {
        words >> run;
        ensure(words && run < settings_.size(), "rank {} wrote '{}'", message->from, message->text);
        if (word == kReached)
          hear_step(run, words);
        else
          hear_end(run, message->from, words);
      }
    }
  }

  void answer(int rank) {
    const std::optional<std::size_t> run = next();
    if (!run) ++gone_;
    ranks_.send(rank, run ? fmt::format("{} {}", kTake, *run) : std::string(kDone));
  }

  void hear_step(std::size_t run, std::istringstream& words) const {
    Index step = 0;
    words >> step;
    if (observer_.reached) observer_.reached(run, step);
  }

  void hear_end(std::size_t run, int rank, std::istringstream& words) {
    std::string status;
    std::string failure;
    words >> status >> std::ws;
    std::getline(words, failure, '\0');
    SweepResult result{.status = RunStatus::failed, .failure = failure};
    for (const RunStatus one : {RunStatus::finished, RunStatus::stopped})
      if (status == name_of(one)) result = {.status = one};
    if (result.status == RunStatus::finished && !RunDirectory::stands_at(settings_[run].path))
      result = {.status = RunStatus::failed,
                .failure = fmt::format("{} finished it, but it is not to be seen from rank 0; all ranks of a "
                                       "sweep need the same file system",
                                       ranks_.name(rank))};
    end(run, std::move(result));
  }

  const std::vector<Setting>& settings_;
  Ranks& ranks_;
  const SweepObserver& observer_;
  std::vector<SweepResult> results_;
  std::size_t next_ = 0;
  int gone_ = 0;  // ranks that get nothing more
};

/// Another rank: the run that rank 0 gives it next.
std::optional<std::size_t> ask(Ranks& ranks, bool stop) {
  ranks.send(0, std::string(stop ? kLeave : kNext));
  if (stop) return std::nullopt;
  for (;; rest())
    if (const std::optional<Transport::Message> message = ranks.receive()) {
      std::istringstream words(message->text);
      std::string word;
      std::size_t run = 0;
      words >> word >> run;
      return word == kTake ? std::optional(run) : std::nullopt;
    }
}

void work(const std::vector<Setting>& settings, Ranks& ranks, const SweepObserver& observer) {
  using Clock = std::chrono::steady_clock;
  while (const std::optional<std::size_t> run = ask(ranks, wishes_to_stop(observer))) {
    Clock::time_point next_word = Clock::now();
    const auto reached = [&](const Trainer& trainer) {
      if (Clock::now() < next_word) return;
      next_word = Clock::now() + std::chrono::seconds(1);
      ranks.send(0, fmt::format("{} {} {}", kReached, *run, trainer.step()));
    };
    const RunObserver of_run{
        .stepped = [&](const Trainer& trainer, const Trainer::StepReport&) { reached(trainer); },
        .should_stop = [&] { return wishes_to_stop(observer); }};
    const SweepResult result = complete_setting(settings[*run], of_run, reached);
    ranks.send(0, fmt::format("{} {} {} {}", kEnded, *run, name_of(result.status), result.failure));
  }
}

}  // namespace

void require_same_sweep(const std::vector<Setting>& settings, Ranks& ranks) {
  require_same_program(ranks);
  require_same_on_all(ranks, digest_of(settings), "settings");
}

std::vector<SweepResult> run_joint_sweep(const std::vector<Setting>& settings, Ranks& ranks,
                                         const SweepObserver& observer) {
  for (const Setting& setting : settings) require_same_run(setting);
  if (ranks.leads()) return RunQueue(settings, ranks, observer).run();
  work(settings, ranks, observer);
  return {};
}

}  // namespace tapehead
