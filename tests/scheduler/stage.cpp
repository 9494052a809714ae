#include "stage.hpp"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <utility>

#include "boot_clock.hpp"
#include "custodian/deadline.hpp"
#include "sqlite.hpp"

using namespace std::chrono_literals;

namespace custodian::tests::scheduler {
namespace {

using job_scheduler::boot_time;

constexpr std::chrono::milliseconds tick{250};
/// The time limit of every wait, long enough for a slow machine.
constexpr std::chrono::seconds limit{60};

std::string in_ms(std::chrono::milliseconds time) { return std::to_string(time.count()) + "ms"; }

testing::TestingServerOptions server_options() {
  testing::TestingServerOptions options;
  options.tick_time = tick;
  return options;
}

}  // namespace

Stage::Stage(StageSettings settings) : settings_{std::move(settings)}, server_{server_options()} {
  account_.database = settings_.database;
  account_.jobs = settings_.jobs;
  for (const char* place : {"A", "B", "C"})
    start(instances_.emplace_back(place, server_.endpoint()));
}

void Stage::start(Instance& instance) {
  instance.start({"--path", std::string{path}, "--database", settings_.database, "--jobs",
                  std::to_string(settings_.jobs), "--until-done", "--job-time",
                  in_ms(settings_.job_time), "--session-timeout", in_ms(settings_.session_timeout),
                  // The touch interval is half a tick, and one more tick for a server that is busy.
                  "--touch-interval", in_ms(tick * 3 / 2)});
}

void Stage::play(FaultKind kind) {
  while (!strike(kind)) {
  }
}

bool Stage::strike(FaultKind kind) {
  const Leader leader = wait_for_leader_in_a_job();
  Fault fault{kind, leader.instance->name(), leader.token, boot_time(), {}};
  bool struck = true;
  switch (kind) {
    case FaultKind::killed: kill(fault, *leader.instance); break;
    case FaultKind::cut_off: cut_off(fault, *leader.instance); break;
    case FaultKind::stopped: struck = stop(fault, *leader.instance); break;
  }
  account_.faults.push_back(fault);
  return struck;
}

void Stage::kill(Fault& fault, Instance& leader) {
  leader.process().kill();
  fault.to = boot_time();
  start(leader);
  wait_for_next_leader(fault);
}

void Stage::cut_off(Fault& fault, Instance& leader) {
  using testing::Direction;
  switch (cuts_++ % 3) {
    case 0: leader.line().hold_back(); break;
    case 1: leader.line().black_hole(); break;
    default: leader.line().hold_back(Direction::to_server); break;
  }
  wait_for_next_leader(fault);
  wait_for_word(fault, {EventKind::leads_no_more});
  leader.line().heal();
  fault.to = boot_time();
}

bool Stage::stop(Fault& fault, Instance& leader) {
  leader.process().send_signal(SIGSTOP);
  while (!is_stopped_in_a_job(fault.token)) {
    leader.process().send_signal(SIGCONT);
    static_cast<void>(wait_for_leader_in_a_job());
    fault.from = boot_time();
    leader.process().send_signal(SIGSTOP);
  }
  wait_for_next_leader(fault);
  leader.process().send_signal(SIGCONT);
  fault.to = boot_time();
  // A leader that was stopped during the job has finished it when it goes on, and its result is
  // refused. A leader that was stopped between its report and the job gives the job up instead.
  return wait_for_word(fault, {EventKind::refused, EventKind::gave_up}) == EventKind::refused;
}

void Stage::finish() {
  finishing_ = true;
  wait_for("end of all instances", [&] {
    return std::ranges::all_of(instances_,
                               [](const Instance& each) { return each.process().has_ended(); });
  });
  for (const Instance& instance : instances_) {
    if (!instance.process().has_succeeded())
      throw std::runtime_error{instance.name() +
                               " has failed: " + instance.process().how_it_ended()};
  }
}

Stage::Leader Stage::wait_for_leader_in_a_job() {
  // Each leader completes at least this many jobs, so that every leader is seen to work, and is
  // then in the middle of another one.
  constexpr int enough = 2;
  const int before = leader_.recorded;
  wait_for("leader that is in the middle of a job", [&] {
    return leader_.in_a_job && leader_.recorded >= enough && leader_.recorded != before;
  });
  return leader_;
}

void Stage::wait_for_next_leader(const Fault& fault) {
  wait_for("leader after " + fault.instance, [&] { return leader_.token > fault.token; });
}

EventKind Stage::wait_for_word(const Fault& fault, std::initializer_list<EventKind> words) {
  auto word = words.end();
  wait_for("word of " + fault.instance + " that it leads no more", [&] {
    const auto said = std::ranges::find_if(account_.events, [&](const Event& event) {
      word = std::ranges::find(words, event.kind);
      return event.instance == fault.instance && event.at >= fault.from && word != words.end();
    });
    return said != account_.events.end();
  });
  return *word;
}

void Stage::wait_for(const std::string& what, const std::function<bool()>& condition) {
  const Deadline deadline{limit};
  while (!condition()) {
    if (deadline.passed()) throw std::runtime_error{"no " + what};
    listen();
  }
}

void Stage::listen() {
  std::vector<pollfd> sources;
  // poll() skips negative descriptors: those of instances that have ended.
  for (const Instance& instance : instances_)
    sources.push_back({.fd = instance.process().descriptor(), .events = POLLIN, .revents = 0});
  constexpr int moment_ms = 20;
  if (::poll(sources.data(), sources.size(), moment_ms) <= 0) return;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].revents == 0) continue;
    for (const std::string& line : instances_[i].listen()) understand(instances_[i], line);
    if (instances_[i].process().has_ended() && !finishing_)
      throw std::runtime_error{instances_[i].name() +
                               " has ended by itself: " + instances_[i].process().how_it_ended()};
  }
}

void Stage::understand(Instance& instance, const std::string& line) {
  transcript_ += line + '\n';
  const std::optional<Event> event = parse_event(line);
  if (!event) return;
  account_.events.push_back(*event);
  if (event->kind == EventKind::took_over && event->number > leader_.token)
    leader_ = {.instance = &instance, .token = event->number};
  if (leader_.instance != &instance) return;
  leader_.in_a_job = event->kind == EventKind::running;
  if (event->kind == EventKind::recorded) ++leader_.recorded;
}

bool Stage::is_stopped_in_a_job(std::int64_t token) const {
  using sqlite::Connection;
  using sqlite::Error;
  using sqlite::Statement;
  using sqlite::Transaction;
  // After this time an instance that was about to end a transaction has ended it, or is stopped
  // within it.
  constexpr auto patience = 500ms;
  try {
    Connection connection{settings_.database, patience};
    const Transaction transaction{connection};
    return Statement{connection, "SELECT 1 FROM attempts WHERE token = ? AND ended IS NULL", token}
        .step();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace custodian::tests::scheduler
