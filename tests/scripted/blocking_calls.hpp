#pragma once

/// \file
/// Helpers for the tests of blocking calls: a client with a thread of its own, a client whose
/// context no thread runs, and a check of the errors that are thrown.

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "custodian/client.hpp"
#include "custodian/error.hpp"
#include "custodian/testing/fake_ensemble.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

/// Checks that a call throws this error, which names the operation and the path.
template <typename Call>
void check_throws(const error_code& code, std::string_view operation, std::string_view path,
                  Call call) {
  CAPTURE(operation);
  try {
    static_cast<void>(call());
    FAIL_CHECK("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == code);
    CHECK(error.operation() == operation);
    CHECK(error.path() == path);
  }
}

/// Waits until a condition is true that another thread changes. Returns false at the limit.
template <typename Condition>
[[nodiscard]] bool until(const Condition& condition) {
  for (const Deadline late{World::limit}; !late.passed(); std::this_thread::yield()) {
    if (condition()) return true;
  }
  return false;
}

/// A client with a thread of its own. Its blocking calls block the test's thread.
struct BlockingClient {
  testing::FakeEnsemble ensemble{};
  // A long session keeps beats away from the requests that a test counts.
  Client client{[this] {
    ClientOptions options = ensemble.options("one");
    options.session_timeout = std::chrono::hours{1};
    return options;
  }()};

  /// A token whose stop was requested.
  [[nodiscard]] static std::stop_token stopped() {
    std::stop_source source;
    source.request_stop();
    return source.get_token();
  }
  void make(const std::string& path, std::string data = {}) {
    ensemble.operate(request::Create{.path = path, .data = std::move(data), .acl = open_acl()});
  }
};

/// A client whose context only the test's thread runs: no thread runs it while the test is in a
/// blocking call.
struct UnrunClient {
  UnrunClient() = default;
  UnrunClient(const UnrunClient&) = delete;
  UnrunClient& operator=(const UnrunClient&) = delete;
  ~UnrunClient() {
    CHECK(world.run_until_idle(*client));
    CHECK(world.end(client));
  }

  /// The time after which the calls of a test end.
  static constexpr std::chrono::milliseconds brief{20};

  World world{};
  std::unique_ptr<Client> client = world.client([this] {
    ClientOptions options = world.options("mine");
    options.operation_timeout = std::chrono::milliseconds{50};
    return options;
  }());
};

}  // namespace custodian::tests
