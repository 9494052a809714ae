#include "crowds/crowd.hpp"

#include <poll.h>

#include <stdexcept>
#include <utility>

#include "custodian/deadline.hpp"

namespace custodian::tests::crowds {

Crowd::Crowd(std::string servers, std::chrono::milliseconds session_timeout, Report report)
    : servers_{std::move(servers)}, session_timeout_{session_timeout}, report_{std::move(report)} {}

void Crowd::start(const std::string& worker) {
  // The kernel ends the worker with this process, even if this one is killed.
  const std::vector<std::string> arguments{"--pdeathsig", "KILL", CUSTODIAN_CROWD_WORKER, servers_,
                                           std::to_string(session_timeout_.count())};
  workers_[worker] = std::make_unique<testing::ChildProcess>(CUSTODIAN_SETPRIV, arguments);
}

void Crowd::kill(const std::string& worker) {
  // What it has said before is read first.
  listen(std::chrono::milliseconds{0});
  workers_.at(worker)->kill();
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
    for (const std::string& line : worker->listen()) {
      std::istringstream text{line};
      Words words;
      for (std::string word; text >> word;) words.push_back(word);
      report_(name, words);
    }
    if (worker->has_ended())
      throw std::runtime_error{name + " has ended: " + worker->how_it_ended()};
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
