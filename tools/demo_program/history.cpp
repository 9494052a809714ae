#include "history.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <utility>

namespace custodian::demo {
namespace {

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The ten digits at the end of a node's name.
std::optional<std::int64_t> sequence_of(std::string_view node) {
  constexpr std::size_t digits = 10;
  if (node.size() <= digits) return std::nullopt;
  return number<std::int64_t>(node.substr(node.size() - digits));
}

class Judge {
 public:
  Verdict judge(std::istream& history) {
    std::size_t line_number = 0;
    for (std::string line; std::getline(history, line);) {
      ++line_number;
      // A last line without a line break is incomplete, since its process was killed while writing
      // it.
      std::optional<Hold> hold = history.eof() ? std::nullopt : parse_line(line);
      if (!hold || hold->out < hold->in) {
        count(verdict_.malformed, "line " + std::to_string(line_number) + " is malformed: " + line);
        continue;
      }
      compare_with_newest(*hold);
      verdict_.holds.push_back(*std::move(hold));
    }
    look_for_overlaps();
    return std::move(verdict_);
  }

 private:
  void count(std::size_t& what, std::string fault) {
    constexpr std::size_t enough = 10;
    ++what;
    if (verdict_.faults.size() < enough) verdict_.faults.push_back(std::move(fault));
  }

  void compare_with_newest(const Hold& hold) {
    if (verdict_.holds.empty()) return;
    const Hold& newest = verdict_.holds.back();
    if (hold.token <= newest.token) {
      count(verdict_.disorders, "token " + std::to_string(hold.token) + " was granted after " +
                                    std::to_string(newest.token));
    } else if (sequence_of(hold.node) <= sequence_of(newest.node)) {
      count(verdict_.disorders, hold.node + " was granted after " + newest.node);
    }
  }

  void look_for_overlaps() {
    std::vector<std::reference_wrapper<const Hold>> by_time{verdict_.holds.begin(),
                                                            verdict_.holds.end()};
    // Holds that began at the same time stay in the order of the file.
    std::ranges::sort(by_time, {}, [](const Hold& hold) { return std::pair{hold.in, &hold}; });
    const Hold* latest = nullptr;  // the hold with the latest release so far
    for (const Hold& hold : by_time) {
      if (latest != nullptr && hold.in < latest->out) {
        count(verdict_.overlaps, "process " + std::to_string(hold.process) + " (token " +
                                     std::to_string(hold.token) + ") was in " +
                                     std::to_string(latest->out - hold.in) + " ns before process " +
                                     std::to_string(latest->process) + " (token " +
                                     std::to_string(latest->token) + ") was out");
      }
      if (latest == nullptr || hold.out > latest->out) latest = &hold;
    }
  }

  Verdict verdict_;
};

}  // namespace

std::string to_line(const Hold& hold) {
  return std::to_string(hold.process) + " " + std::to_string(hold.token) + " " + hold.node + " " +
         std::to_string(hold.in) + " " + std::to_string(hold.out) + "\n";
}

std::optional<Hold> parse_line(std::string_view line) {
  std::array<std::string_view, 5> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t space = line.find(' ');
    const bool last = i + 1 == fields.size();
    if ((space == line.npos) != last) return std::nullopt;
    fields[i] = line.substr(0, space);
    line.remove_prefix(last ? line.size() : space + 1);
  }
  const auto process = number<int>(fields[0]);
  const auto token = number<std::int64_t>(fields[1]);
  const auto in = number<std::int64_t>(fields[3]);
  const auto out = number<std::int64_t>(fields[4]);
  if (!process || !token || !sequence_of(fields[2]) || !in || *in < 0 || !out || *out < 0)
    return std::nullopt;
  return Hold{*process, *token, std::string{fields[2]}, *in, *out};
}

Verdict judge(std::istream& history) { return Judge{}.judge(history); }

}  // namespace custodian::demo
