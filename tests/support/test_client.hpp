#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "custodian/client.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/test_servers.hpp"

namespace custodian::tests {

/// The time limit of most waits: long enough for a busy machine. It passes only in a test that
/// fails.
inline constexpr std::chrono::seconds patience{30};

/// Evaluates the condition repeatedly until it is true. Returns false if it is not true in time.
[[nodiscard]] inline bool eventually(const std::function<bool()>& condition,
                                     std::chrono::milliseconds limit = patience) {
  const Deadline deadline{limit};
  while (!condition()) {
    if (deadline.passed()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return true;
}

/// The options for a client of a server without TLS.
[[nodiscard]] inline ClientOptions plain_options_for(std::string servers) {
  ClientOptions options;
  options.servers = std::move(servers);
  options.session_timeout = std::chrono::seconds{10};
  options.operation_timeout = patience;
  return options;
}

/// The options for a client of the tests' servers, with TLS if they use it (over_tls()).
[[nodiscard]] inline ClientOptions options_for(std::string servers) {
  return secured(plain_options_for(std::move(servers)));
}

/// A client whose paths all lie below a root of the test's own, which the destructor removes.
class TestClient {
 public:
  explicit TestClient(std::string_view test, std::string servers = connect_string(),
                      std::chrono::milliseconds session_timeout = std::chrono::seconds{10})
      : root_{unique_root(test)}, client_{options(std::move(servers), root_, session_timeout)} {}

  ~TestClient() {
    try {
      Client outside{options_for(servers_)};
      outside.remove(root_, {.missing = Missing::is_fine,
                             .descendants = Descendants::are_removed,
                             .deadline = std::chrono::seconds{10}});
    } catch (const Error&) {
      // The test may have stopped the server, so that nothing can be removed.
    }
  }

  Client* operator->() { return &client_; }
  Client& operator*() { return client_; }
  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] const std::string& servers() const { return servers_; }

 private:
  ClientOptions options(std::string servers, const std::string& root,
                        std::chrono::milliseconds session_timeout) {
    servers_ = servers;
    ClientOptions options = options_for(std::move(servers));
    options.session_timeout = session_timeout;
    options.name_space = root;
    return options;
  }

  std::string servers_;
  std::string root_;
  Client client_;
};

/// The outcome of an asynchronous operation, which takes handler() as its handler; future() has the
/// results. (Boost 1.81 cannot do as_tuple(use_future).)
template <typename... Results>
class Outcome {
 public:
  using Value = std::tuple<error_code, Results...>;

  [[nodiscard]] auto handler() const {
    return [promise = promise_](error_code error, Results... results) {
      promise->set_value(Value{error, std::move(results)...});
    };
  }
  [[nodiscard]] std::future<Value> future() const { return promise_->get_future(); }

 private:
  std::shared_ptr<std::promise<Value>> promise_ = std::make_shared<std::promise<Value>>();
};

/// Starts an operation and returns the future of its outcome: `begun<GetResult>([&](auto done) {
/// ...(done); })`.
template <typename... Results, typename Start>
[[nodiscard]] std::future<std::tuple<error_code, Results...>> begun(Start start) {
  const Outcome<Results...> outcome;
  start(outcome.handler());
  return outcome.future();
}

/// The children of a node; none if the node is an empty container that the servers have removed.
[[nodiscard]] inline std::vector<std::string> names_below(Client& client, const std::string& path) {
  try {
    return client.children(path).names;
  } catch (const Error& error) {
    if (error.code() == ServerErrc::no_node) return {};
    throw;
  }
}

template <typename Function>
[[nodiscard]] std::string message_of(Function function) {
  try {
    function();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace custodian::tests
