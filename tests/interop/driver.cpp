#include "driver.hpp"

#include <poll.h>

#include <stdexcept>
#include <utility>

#include "custodian/deadline.hpp"
#include "support/test_servers.hpp"

namespace custodian::tests {
namespace {

/// The time limit of an answer, for which a Java virtual machine may have to start first.
constexpr std::chrono::seconds answer_limit{60};

std::string words(Names names) { return names == Names::curators ? "curator" : "kazoo"; }

std::vector<std::string> arguments(const Peer& peer, const std::string& servers) {
  std::vector<std::string> all = peer.arguments_before;
  all.push_back(servers);
  all.insert(all.end(), peer.arguments_after.begin(), peer.arguments_after.end());
  if (over_tls()) all.push_back(authority_file());
  return all;
}

}  // namespace

// The class path is empty if CMake did not find all that Curator needs.
bool has_curator() { return *CUSTODIAN_INTEROP_CURATOR_CLASSPATH != '\0'; }
bool has_kazoo() { return *CUSTODIAN_INTEROP_PYTHON != '\0'; }

Peer ours(Names names) {
  return {.name = "ours", .program = CUSTODIAN_INTEROP_OURS, .arguments_after = {words(names)}};
}

Peer curator() {
  return {.name = "Curator",
          .program = CUSTODIAN_INTEROP_JAVA,
          // These options suit a short-lived process on a small machine. Our servers have them,
          // too.
          .arguments_before = {"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
                               "-Xshare:auto", "-Xmx256m", "-Djava.awt.headless=true",
                               "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp",
                               CUSTODIAN_INTEROP_CURATOR_CLASSPATH, "CuratorDriver"}};
}

Peer kazoo(Names names) {
  return {.name = "kazoo",
          .program = CUSTODIAN_INTEROP_PYTHON,
          .arguments_before = {CUSTODIAN_INTEROP_KAZOO_DRIVER},
          .arguments_after = {words(names)}};
}

Driver::Driver(const Peer& peer) : Driver{peer, connect_string()} {}

Driver::Driver(const Peer& peer, const std::string& servers)
    : name_{peer.name}, process_{peer.program, arguments(peer, servers)} {}

std::string Driver::answer(const std::string& session) {
  const Deadline deadline{answer_limit};
  std::deque<std::string>& answers = answers_[session];
  while (answers.empty()) {
    if (process_.has_ended()) throw std::runtime_error{name_ + "'s driver has ended"};
    if (deadline.passed()) throw std::runtime_error{name_ + "'s " + session + " does not answer"};
    listen(std::chrono::milliseconds{100});
  }
  const std::string answer = std::move(answers.front());
  answers.pop_front();
  if (!answer.starts_with("ok ")) throw std::runtime_error{name_ + "'s " + session + ": " + answer};
  return answer.substr(answer.find(' ') + 1);
}

bool Driver::has_answered(const std::string& session) {
  listen({});
  return process_.has_ended() || !answers_[session].empty();
}

void Driver::listen(std::chrono::milliseconds patience) {
  pollfd readable{process_.descriptor(), POLLIN, 0};
  if (::poll(&readable, 1, static_cast<int>(patience.count())) <= 0) return;
  for (const std::string& line : process_.listen()) {
    const std::size_t space = line.find(' ');
    if (space != line.npos) answers_[line.substr(0, space)].push_back(line.substr(space + 1));
  }
}

Session::Session(Driver& driver, std::string name, std::chrono::milliseconds timeout)
    : driver_{&driver}, name_{std::move(name)} {
  driver_->tell(name_, "connect " + std::to_string(timeout.count()));
}

void Session::begin(const std::string& command) {
  static_cast<void>(id());
  driver_->tell(name_, command);
}

std::int64_t Session::id() {
  if (id_ == 0) id_ = std::stoll(end());
  return id_;
}

}  // namespace custodian::tests
