#include "tapehead/text/merges.h"

#include <algorithm>
#include <compare>
#include <string>
#include <string_view>

#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"
#include "tapehead/text/byte_alphabet.h"

namespace tapehead {

namespace {

struct Merge {
  std::int32_t left;
  std::int32_t right;
  std::int32_t rank;
  std::int32_t product;

  bool same_parts(const Merge& other) const { return left == other.left && right == other.right; }
  friend auto operator<=>(const Merge&, const Merge&) = default;
};

/// Takes the lines in their order, and remembers which tokens can be there by now.
class MergeReader {
 public:
  MergeReader(const NamedText& file, const Vocabulary& vocabulary)
      : path_(file.name), rest_(file.text), vocabulary_(vocabulary) {
    can_be_there_.resize(static_cast<std::size_t>(vocabulary.size()));
    for (int byte = 0; byte < 256; ++byte)
      if (const auto id = vocabulary.find(written_byte(static_cast<unsigned char>(byte)))) mark(*id);
    if (rest_.starts_with("#version")) take_line();
    lines_before_merges_ = line_;
  }

  bool at_end() const { return rest_.empty(); }
  Index line_of(std::int32_t rank) const { return lines_before_merges_ + rank + 1; }

  Merge read() {
    const std::string_view line = take_line();
    const Index rank = line_ - lines_before_merges_ - 1;
    if (rank >= Merges::kNever) refuse(line_, "too many merges");
    const std::size_t space = line.find(' ');
    if (space == 0 || space >= line.size() - 1 || line.find(' ', space + 1) != line.npos)
      refuse(line_, "expected two tokens with a space between them, got " + quoted_name(line));
    const std::string_view left = line.substr(0, space);
    const std::string_view right = line.substr(space + 1);
    const Merge merge{find_part(left), find_part(right), static_cast<std::int32_t>(rank),
                      find(std::string(left).append(right))};
    mark(merge.product);
    return merge;
  }

  [[noreturn]] void refuse(Index line, const std::string& fault) const {
    throw Error(fmt::format("[tokenizer] {}:{}: {}", path_, line, fault));
  }

 private:
  /// The next line, without its end.
  std::string_view take_line() {
    std::string_view line = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(rest_.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++line_;
    return line;
  }

  void mark(std::int32_t id) { can_be_there_[static_cast<std::size_t>(id)] = true; }

  std::int32_t find(std::string_view token) const {
    const auto id = vocabulary_.find(token);
    if (!id) refuse(line_, fmt::format("{} is not in the vocabulary", quoted_name(token)));
    return *id;
  }

  std::int32_t find_part(std::string_view token) const {
    const std::int32_t id = find(token);
    if (!can_be_there_[static_cast<std::size_t>(id)])
      refuse(line_, fmt::format("{} is neither a byte nor made by a line above", quoted_name(token)));
    return id;
  }

  const std::string& path_;
  std::string_view rest_;
  const Vocabulary& vocabulary_;
  std::vector<bool> can_be_there_;  // by id: a byte, or made by a line above
  Index line_ = 0;                  // the last that was taken
  Index lines_before_merges_ = 0;
};

}  // namespace

Merges::Merges(const NamedText& file, const Vocabulary& vocabulary) {
  MergeReader reader(file, vocabulary);
  std::vector<Merge> merges;
  while (!reader.at_end()) {
    merges.push_back(reader.read());
    products_.push_back(merges.back().product);
  }
  std::sort(merges.begin(), merges.end());
  const auto twin = std::adjacent_find(merges.begin(), merges.end(),
                                       [](const Merge& a, const Merge& b) { return a.same_parts(b); });
  if (twin != merges.end())
    reader.refuse(reader.line_of(twin[1].rank),
                  fmt::format("the same merge as in line {}", reader.line_of(twin->rank)));

  first_.resize(static_cast<std::size_t>(vocabulary.size()) + 1);
  for (const Merge& merge : merges) {
    ++first_[static_cast<std::size_t>(merge.left) + 1];
    entries_.push_back({merge.right, merge.rank});
  }
  for (std::size_t left = 1; left < first_.size(); ++left) first_[left] += first_[left - 1];
}

std::int32_t Merges::rank(std::int32_t left, std::int32_t right) const {
  const std::int32_t* first = &first_[static_cast<std::size_t>(left)];
  const auto end = entries_.begin() + first[1];
  const auto found = std::lower_bound(entries_.begin() + first[0], end, right,
                                      [](const Entry& entry, std::int32_t id) { return entry.right < id; });
  return found != end && found->right == right ? found->rank : kNever;
}

}  // namespace tapehead
