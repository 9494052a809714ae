/// \file
/// custodian's runner, with a timer whose handler throws as soon as FILE exists: throwing_runner
/// SERVERS NAMESPACE FILE COMMAND... The lock is /lock.

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "custodian/locks/inter_process_mutex.hpp"
#include "run/runner.hpp"

namespace asio = boost::asio;

namespace custodian::cli {
namespace {

void throw_when_there(const std::shared_ptr<asio::steady_timer>& timer, const std::string& file) {
  timer->expires_after(std::chrono::milliseconds{10});
  timer->async_wait([timer, file](boost::system::error_code /*error*/) {
    if (std::filesystem::exists(file)) throw std::runtime_error{"thrown"};
    throw_when_there(timer, file);
  });
}

Acquire acquire(const Client& client, const std::string& file) {
  const auto mutex = std::make_shared<InterProcessMutex>(client, "/lock");
  return [mutex, file](Attempt attempt, std::function<void(Outcome)> handler) {
    throw_when_there(std::make_shared<asio::steady_timer>(attempt.executor), file);
    mutex->async_try_acquire_until(
        attempt.deadline, std::move(attempt.options),
        asio::bind_executor(attempt.executor,
                            [handler = std::move(handler)](error_code error, AcquireResult result) {
                              Outcome outcome{.error = error};
                              if (result) outcome.leases.push_back(std::move(result.lease));
                              handler(std::move(outcome));
                            }));
  };
}

int run(const std::vector<std::string>& words) {
  GlobalOptions global;
  global.servers = words.at(1);
  global.name_space = words.at(2);
  RunOptions options;
  options.path = "/lock";
  return run_under(global, options, {words.begin() + 4, words.end()},
                   [file = words.at(3)](const Client& client) { return acquire(client, file); });
}

}  // namespace
}  // namespace custodian::cli

int main(int argc, char* argv[]) {
  try {
    return custodian::cli::run({argv, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
