#include "history.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace custodian::chaos {
namespace {

/// Stands for the end of an event if no process has recorded it.
constexpr Time century = std::chrono::hours{24 * 365 * 100};

/// Takes the words of a line one by one. ok() is true if the line had exactly as many words as were
/// taken.
class Words {
 public:
  explicit Words(const std::string& line) : stream_{line} {}

  template <typename Value>
  Value next() {
    Value value{};
    stream_ >> value;
    return value;
  }
  /// Takes a number. Fails the line if it is negative or too large, so that sums cannot overflow.
  std::int64_t next_number(std::int64_t most = century.count()) {
    const auto number = next<std::int64_t>();
    if (number >= 0 && number <= most) return number;
    stream_.setstate(std::ios::failbit);
    return 0;
  }
  Time next_time() { return Time{next_number()}; }
  std::chrono::milliseconds next_duration() {
    return std::chrono::milliseconds{
        next_number(std::chrono::duration_cast<std::chrono::milliseconds>(century).count())};
  }
  /// Takes a token. Fails the line if the word is not a token.
  Token next_token() {
    const auto token = parse_token(next<std::string>());
    if (!token) stream_.setstate(std::ios::failbit);
    return token.value_or(Token{});
  }
  [[nodiscard]] bool more() { return stream_.good() && !(stream_ >> std::ws).eof(); }
  [[nodiscard]] bool ok() {
    if (!stream_) return false;
    std::string surplus;
    return !(stream_ >> surplus);
  }

 private:
  std::istringstream stream_;
};

template <typename Value, std::size_t Size>
std::optional<Value> named(std::string_view name,
                           const std::array<std::pair<std::string_view, Value>, Size>& names) {
  for (const auto& [each, value] : names) {
    if (each == name) return value;
  }
  return std::nullopt;
}

constexpr std::array write_kinds{
    std::pair{std::string_view{"guarded"}, WriteKind::guarded},
    std::pair{std::string_view{"bare"}, WriteKind::bare},
    std::pair{std::string_view{"fenced"}, WriteKind::fenced},
};
constexpr std::array write_outcomes{
    std::pair{std::string_view{"landed"}, WriteOutcome::landed},
    std::pair{std::string_view{"refused"}, WriteOutcome::refused},
    std::pair{std::string_view{"unknown"}, WriteOutcome::unknown},
    std::pair{std::string_view{"unsent"}, WriteOutcome::unsent},
};

class WorkerReader {
 public:
  WorkerReader(const std::string& process, History& history)
      : process_{process}, history_{history} {}

  /// Reads a line, and returns whether it is consistent with the lines before.
  bool read(const std::string& line) {
    Words words{line};
    const Time at = words.next_time();
    const auto what = words.next<std::string>();
    const auto number = words.next_number();
    if (what == "begun") return begun(at, number, words);
    if (what == "wrote") return wrote(at, number, words);
    if (what == "write") return write(at, number, words);
    const auto found = acquires_.find(number);
    return found != acquires_.end() && event(history_.acquires[found->second], at, what, words);
  }

 private:
  bool begun(Time at, std::int64_t id, Words& words) {
    Acquire acquire{.process = process_, .id = id, .lock = words.next<std::string>(), .begun = at};
    if (words.more()) {
      constexpr int most = 1'000'000;
      acquire.takes = static_cast<int>(words.next_number(most));
      const bool divided = words.next<char>() == '/';
      acquire.of = static_cast<int>(words.next_number(most));
      if (!divided || acquire.takes < 1 || acquire.of < acquire.takes) return false;
    }
    if (!words.ok() || !acquires_.emplace(id, history_.acquires.size()).second) return false;
    history_.acquires.push_back(std::move(acquire));
    return true;
  }

  static bool event(Acquire& acquire, Time at, const std::string& what, Words& words) {
    if (acquire.ended || acquire.granted.has_value() == (what == "granted" || what == "ended"))
      return false;
    if (what == "granted") {
      acquire.granted = at;
      acquire.token = words.next_token();
      acquire.session = words.next<std::string>();
      acquire.node = words.next<std::string>();
    } else if (what == "ended") {
      acquire.ended = at;
      acquire.how = words.next<std::string>();
    } else if (what == "state") {
      const auto state = words.next<std::string>();
      acquire.suspended = acquire.suspended || state == "suspended";
    } else if (what == "lost" && !acquire.lost) {
      acquire.lost = at;
    } else if (what == "released" && !acquire.released) {
      acquire.released = at;
      acquire.reason = words.next<std::string>();
    } else {
      return false;
    }
    return words.ok();
  }

  bool write(Time at, std::int64_t attempt, Words& words) {
    const auto kind = named(words.next<std::string>(), write_kinds);
    const auto hold = acquires_.find(words.next_number());
    if (!words.ok() || !kind || hold == acquires_.end() ||
        !history_.acquires[hold->second].granted ||
        !writes_.emplace(attempt, history_.writes.size()).second)
      return false;
    history_.writes.push_back({.process = process_,
                               .attempt = attempt,
                               .kind = *kind,
                               .hold = hold->second,
                               .begun = at});
    return true;
  }

  bool wrote(Time at, std::int64_t attempt, Words& words) {
    const auto outcome = named(words.next<std::string>(), write_outcomes);
    const auto version = words.next_number();
    const auto found = writes_.find(attempt);
    if (!words.ok() || !outcome || found == writes_.end()) return false;
    Write& write = history_.writes[found->second];
    if (write.done) return false;
    write.done = at;
    write.outcome = *outcome;
    write.version = version;
    return true;
  }

  const std::string& process_;
  History& history_;
  std::map<std::int64_t, std::size_t> acquires_;
  std::map<std::int64_t, std::size_t> writes_;
};

class DriverReader {
 public:
  explicit DriverReader(History& history) : history_{history} {}

  bool read(const std::string& line) {
    Words words{line};
    const Time at = words.next_time();
    const auto what = words.next<std::string>();
    if (what == "run") {
      history_.seed = words.next<std::string>();
      history_.session_timeout = words.next_duration();
      history_.patience = words.next_duration();
      return words.ok();
    }
    if (what == "fault") return fault(at, words);
    if (what == "healed" || what == "over") return fault_end(at, what, words);
    if (what == "stopped" || what == "resumed" || what == "killed") return process(at, what, words);
    if (what == "passes" || what == "register" || what == "left") {
      auto& numbers = what == "passes" ? history_.passes
                      : what == "left" ? history_.left
                                       : history_.registers;
      const auto name = words.next<std::string>();
      numbers[name] = words.next_number();
      return words.ok();
    }
    if (what != "end" || history_.end) return false;
    history_.end = at;
    return words.ok();
  }

 private:
  bool fault(Time at, Words& words) {
    Fault fault{.begun = at};
    fault.number = words.next_number();
    const auto kind = parse_fault_kind(words.next<std::string>());
    fault.process = words.next<std::string>();
    fault.lock = words.next<std::string>();
    fault.token = words.next_token();
    if (!words.ok() || !kind) return false;
    fault.kind = *kind;
    if (fault.process == "*") fault.process.clear();
    if (fault.lock == "-") fault.lock.clear();
    history_.faults.push_back(std::move(fault));
    return true;
  }

  bool fault_end(Time at, const std::string& what, Words& words) {
    const auto number = words.next_number();
    const auto found = std::ranges::find(history_.faults, number, &Fault::number);
    if (!words.ok() || found == history_.faults.end()) return false;
    auto& when = what == "healed" ? found->healed : found->over;
    if (when) return false;
    when = at;
    return true;
  }

  bool process(Time at, const std::string& what, Words& words) {
    const auto name = words.next<std::string>();
    if (!words.ok()) return false;
    if (what == "killed") return history_.kills.emplace(name, at).second;
    const auto open = std::ranges::find_if(
        history_.stops, [&](const Stop& stop) { return stop.process == name && !stop.to; });
    if ((open == history_.stops.end()) != (what == "stopped")) return false;
    if (what == "stopped") {
      history_.stops.push_back({.process = name, .from = at});
    } else {
      open->to = at;
    }
    return true;
  }

  History& history_;
};

template <typename Reader>
void read_lines(std::istream& lines, const std::string& file, Reader reader, History& history) {
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    // A line without a line break is incomplete, and therefore malformed.
    if (!lines.eof() && reader.read(line)) continue;
    std::ostringstream place;
    place << file << ':' << number << ": " << line;
    history.malformed.push_back(place.str());
  }
}

}  // namespace

void read_worker(std::istream& lines, const std::string& process, History& history) {
  read_lines(lines, "worker-" + process, WorkerReader{process, history}, history);
}

void read_driver(std::istream& lines, History& history) {
  read_lines(lines, "driver", DriverReader{history}, history);
}

History read_history(const std::filesystem::path& directory) {
  History history;
  std::ifstream driver{directory / "driver"};
  if (!driver) throw std::runtime_error{"no history of a driver in " + directory.string()};
  read_driver(driver, history);
  constexpr std::string_view prefix = "worker-";
  for (const auto& entry : std::filesystem::directory_iterator{directory}) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    std::ifstream worker{entry.path()};
    if (!worker) throw std::runtime_error{"cannot read " + entry.path().string()};
    read_worker(worker, name.substr(prefix.size()), history);
  }
  return history;
}

}  // namespace custodian::chaos
