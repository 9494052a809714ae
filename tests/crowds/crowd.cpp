#include "crowds/crowd.hpp"

#include <poll.h>

#include <csignal>
#include <stdexcept>
#include <utility>

#include "custodian/deadline.hpp"

namespace custodian::tests::crowds {

Crowd::Crowd(std::string servers, std::chrono::milliseconds session_timeout, Report report)
    : servers_{std::move(servers)}, session_timeout_{session_timeout}, report_{std::move(report)} {}

void Crowd::start(const std::string& worker) {
  start(worker, {servers_, std::to_string(session_timeout_.count())});
}

void Crowd::start(const std::string& worker, const std::vector<std::string>& arguments) {
  // The kernel ends the worker with this process, even if this one is killed.
  std::vector<std::string> all{"--pdeathsig", "KILL", CUSTODIAN_CROWD_WORKER};
  all.insert(all.end(), arguments.begin(), arguments.end());
  workers_[worker] = std::make_unique<testing::ChildProcess>(CUSTODIAN_SETPRIV, all);
}

void Crowd::kill(const std::string& worker) {
  testing::ChildProcess& process = *workers_.at(worker);
  process.send_signal(SIGKILL);
  while (!process.has_ended()) report_lines(worker, process);
  workers_.erase(worker);
}

std::vector<std::string> Crowd::workers() const {
  std::vector<std::string> names;
  for (const auto& [name, worker] : workers_) names.push_back(name);
  return names;
}

void Crowd::listen(std::chrono::milliseconds time) {
  std::vector<pollfd> readable;
  for (const auto& [name, worker] : workers_) {
    readable.push_back({worker->descriptor(), POLLIN, 0});
  }
  if (::poll(readable.data(), readable.size(), static_cast<int>(time.count())) <= 0) return;
  std::size_t index = 0;
  for (const auto& [name, worker] : workers_) {
    if (readable[index++].revents == 0) continue;
    report_lines(name, *worker);
    if (worker->has_ended())
      throw std::runtime_error{name + " has ended: " + worker->how_it_ended()};
  }
}

void Crowd::report_lines(const std::string& worker, testing::ChildProcess& process) {
  for (const std::string& line : process.listen()) {
    std::istringstream text{line};
    Words words;
    for (std::string word; text >> word;) words.push_back(word);
    report_(worker, words);
  }
}

bool Crowd::until(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const Deadline deadline{limit};
  while (!condition()) {
    if (deadline.passed()) return false;
    listen();
  }
  return true;
}

}  // namespace custodian::tests::crowds
