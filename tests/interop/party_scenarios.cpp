#include <algorithm>
#include <filesystem>
#include <fstream>
#include <list>
#include <random>
#include <stdexcept>
#include <thread>

#include "attendance.hpp"
#include "scenarios.hpp"
#include "stage.hpp"

namespace custodian::tests {

namespace {

constexpr std::chrono::milliseconds session_timeout{2'000};

/// A driver, and its sessions at the parties.
struct Process {
  Process(Peer of, std::size_t number) : peer{std::move(of)}, members{number} {}
  Peer peer;
  std::size_t members;
  std::optional<Driver> driver{};
  std::list<Session> sessions{};
  std::vector<std::size_t> attendees{};  ///< of this life
};

/// Processes that go from party to party, and their diaries.
class Company {
 public:
  Company(const std::vector<Peer>& peers, int needed)
      : needed_{needed}, directory_{own_server().directory() / "parties"} {
    std::filesystem::create_directory(directory_);
    for (const Peer& each : peers) {
      // The first process has the rest of the members.
      const bool is_first = processes_.empty();
      const std::size_t members =
          is_first ? static_cast<std::size_t>(needed) - peers.size() + 1 : std::size_t{1};
      start(processes_.emplace_back(each, members));
    }
  }
  ~Company() {
    processes_.clear();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Company(const Company&) = delete;
  Company& operator=(const Company&) = delete;

  /// Returns when there have been `parties` parties; kills a process after each `kill_every` of
  /// them.
  void attend(std::size_t parties, std::size_t kill_every) {
    std::minstd_rand random{1};
    for (std::size_t until = kill_every; until < parties; until += kill_every) {
      wait_for(until);
      Process& process =
          *std::next(processes_.begin(), static_cast<std::ptrdiff_t>(random() % processes_.size()));
      kill(process);
      start(process);
    }
    wait_for(parties);
  }
  /// Kills all remaining processes, and reads their diaries.
  Attendance end() {
    for (Process& each : processes_) kill(each);
    read();
    return {attendees_, 3 * session_timeout};
  }

 private:
  [[nodiscard]] std::filesystem::path file(std::size_t attendee) const {
    return directory_ / std::to_string(attendee);
  }

  /// Reads what is new in the diaries.
  void read() {
    for (std::size_t i = 0; i < attendees_.size(); ++i) {
      std::string& diary = attendees_[i].diary;
      std::ifstream from{file(i)};
      from.seekg(static_cast<std::streamoff>(diary.size()));
      const std::string more{std::istreambuf_iterator<char>{from}, {}};
      visits_ += static_cast<std::size_t>(std::ranges::count(more, 'i'));  // of "in"
      diary += more;
    }
  }

  /// Waits as long as there are further parties: a machine may be slow, but no member may hang.
  void wait_for(std::size_t parties) {
    std::size_t seen = visits_;
    Deadline deadline{patience};
    while (visits_ < parties * static_cast<std::size_t>(needed_)) {
      if (visits_ != seen) deadline = Deadline{patience};
      seen = visits_;
      if (deadline.passed()) {
        throw std::runtime_error{"there was no party for a long time, after " +
                                 std::to_string(visits_) + " visits"};
      }
      for (Process& each : processes_) {
        for (Session& session : each.sessions) {
          if (session.has_ended()) throw std::runtime_error{"a member fails: " + session.end()};
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
      read();
    }
  }

  void start(Process& process) {
    process.driver.emplace(process.peer);
    for (std::size_t i = 0; i < process.members; ++i) {
      const std::size_t attendee = attendees_.size();
      process.attendees.push_back(attendee);
      attendees_.push_back({.library = process.peer.name, .diary = {}});
      Session& session = process.sessions.emplace_back(
          *process.driver, "member-" + std::to_string(attendee), session_timeout);
      session.begin("attend " + stage_.path("parties") + " " + std::to_string(needed_) + " " +
                    file(attendee).string());
    }
  }

  void kill(Process& process) {
    process.sessions.clear();
    process.driver->kill();
    for (const std::size_t each : process.attendees) attendees_[each].killed = monotonic_now();
    process.attendees.clear();
    process.driver.reset();
  }

  const int needed_;
  const std::filesystem::path directory_;
  Stage stage_{"parties"};
  std::list<Process> processes_;
  std::vector<Attendee> attendees_;
  std::size_t visits_ = 0;
};

}  // namespace

PartyReport attend_parties(const std::vector<Peer>& peers, int needed, std::size_t parties,
                           std::size_t kill_every) {
  Company company{peers, needed};
  PartyReport report;
  try {
    company.attend(parties, kill_every);
  } catch (const std::runtime_error& error) {
    report.stuck = error.what();
  }
  const Attendance attendance = company.end();
  for (const Peer& each : peers) {
    const bool is_ours = each.name == ours().name;
    PartyReport::Count& count = is_ours ? report.ours : report.others;
    count = {.visits = attendance.visits(each.name),
             .early = attendance.early(each.name, static_cast<std::size_t>(needed)).size(),
             .left_alone = attendance.left_alone(each.name).size()};
  }
  return report;
}

void meet(const Peer& one, const Peer& other, int rounds) {
  Stage stage{"party"};
  const std::string path = stage.path("party");
  Driver ones{one};
  Driver others{other};
  struct Member {
    Session session;
    bool is_ours;
  };
  std::list<Member> members;
  for (const int number : {0, 1}) {
    const std::string name = "member-" + std::to_string(number);
    members.push_back({Session{ones, name}, one.name == ours().name});
    members.push_back({Session{others, name}, other.name == ours().name});
  }
  int too_soon = 0;
  for (int round = 0; round < rounds; ++round) {
    // Each time another member comes last, and leaves last.
    members.splice(members.end(), members, members.begin());
    for (const std::string what : {"enter ", "leave "}) {
      std::size_t come = 0;
      for (Member& each : members) {
        const bool is_last = ++come == members.size();
        if (is_last) {
          for (Member& earlier : members) {
            if (&earlier == &each || !earlier.session.has_ended()) continue;
            ++too_soon;
            // A member of another library goes on after any event.
            CHECK_FALSE(earlier.is_ours);
          }
        }
        each.session.begin(what + path + " 4");
        if (what == "enter " && !is_last) REQUIRE(stage.becomes(path, come));
      }
      for (Member& each : members) static_cast<void>(each.session.end());
    }
    REQUIRE(stage.becomes(path, 0));
  }
  if (too_soon > 0) WARN(too_soon << " times another library's member did not wait");
}

}  // namespace custodian::tests
