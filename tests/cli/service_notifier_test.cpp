// The variables that systemd sets for a service, and the notifications that systemd gets.

#include "run/service_notifier.hpp"

#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdlib>

#include "custodian/deadline.hpp"
#include "options/usage_error.hpp"
#include "support/catch.hpp"
#include "support/notify_socket.hpp"

namespace custodian::cli::service_notifier_test {
namespace {

using namespace std::chrono_literals;
using tests::NotifySocket;

/// The variables as systemd sets them; gone at the end.
class Variables {
 public:
  Variables(const char* socket, const char* watchdog, const char* process) {
    set("NOTIFY_SOCKET", socket);
    set("WATCHDOG_USEC", watchdog);
    set("WATCHDOG_PID", process);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  ~Variables() {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
  }

 private:
  static void set(const char* name, const char* value) {
    if (value != nullptr) ::setenv(name, value, 1);
  }
};

constexpr pid_t self = 4711;

/// A context with other work, as the runner has.
struct Context : boost::asio::io_context {
  boost::asio::executor_work_guard<executor_type> work{get_executor()};
};

}  // namespace

TEST_CASE("service: what systemd says is read, and taken out of the environment") {
  const Variables variables{"/run/systemd/notify", "30000000", "4711"};
  CHECK(take_service_manager(self) == ServiceManager{"/run/systemd/notify", 30s});
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) {
    CHECK(std::getenv(name) == nullptr);
  }
  CHECK(take_service_manager(self) == ServiceManager{});
}

TEST_CASE("service: a watchdog that waits for another process is none of ours") {
  {
    const Variables variables{"@manager", "1000", "4712"};
    CHECK(take_service_manager(self) == ServiceManager{"@manager", {}});
  }
  const Variables variables{"@manager", "1000", nullptr};
  CHECK(take_service_manager(self) == ServiceManager{"@manager", 1ms});
}

TEST_CASE("service: variables that systemd does not write are refused") {
  for (const char* wrong : {"soon", "1s", "-5", "0", "99999999999999999999", " 1"}) {
    INFO(wrong);
    const Variables variables{"@manager", wrong, nullptr};
    CHECK_THROWS_AS(take_service_manager(self), UsageError);
  }
  const Variables variables{"@manager", "1000", "me"};
  CHECK_THROWS_AS(take_service_manager(self), UsageError);
}

TEST_CASE("service: an address that is no socket's is refused") {
  Context context;
  CHECK_THROWS_AS(ServiceNotifier(context, {.socket = "run/notify"}), UsageError);
  CHECK_THROWS_AS(ServiceNotifier(context, {.socket = "/" + std::string(200, 'x')}), UsageError);
}

TEST_CASE("service: a notification has a line for each piece of news") {
  CHECK(to_notification({}).empty());
  CHECK(to_notification({.ready = true, .status = "holds /a"}) == "READY=1\nSTATUS=holds /a");
  CHECK(to_notification({.status = "waits", .patience = 60s}) ==
        "STATUS=waits\nEXTEND_TIMEOUT_USEC=60000000");
  CHECK(to_notification({.stopping = true, .alive = true}) == "STOPPING=1\nWATCHDOG=1");
}

TEST_CASE("service: text from elsewhere cannot add a piece of news") {
  CHECK(to_notification({.status = "waits; the nearest is x\nREADY=1"}) ==
        "STATUS=waits; the nearest is x\\nREADY=1");
}

TEST_CASE("service: who starts has more time than the unit says, until it is ready") {
  NotifySocket manager;
  Context context;
  ServiceNotifier notifier{context, {.socket = manager.address()}};
  REQUIRE(notifier.is_active());
  notifier.starts("waits for /a");
  context.poll();
  CHECK(manager.next() == "STATUS=waits for /a\nEXTEND_TIMEOUT_USEC=60000000");
  notifier.ready("holds /a");
  context.poll();
  CHECK(manager.next() == "READY=1\nSTATUS=holds /a");
  // Waiting again, after a loss.
  notifier.starts("waits for /a");
  context.poll();
  CHECK(manager.next() == "STATUS=waits for /a");
  notifier.ready("holds /a");
  context.poll();
  CHECK(manager.next() == "STATUS=holds /a");
  notifier.stops();
  notifier.stops();
  context.poll();
  CHECK(manager.next() == "STOPPING=1");
  CHECK(manager.next() == std::nullopt);
}

TEST_CASE("service: news are summed up while the manager does not read") {
  NotifySocket manager;
  Context context;
  ServiceNotifier notifier{context, {.socket = manager.address()}};
  for (int i = 0; i < 5'000; ++i) {
    notifier.status("position " + std::to_string(i));
    context.poll();
  }
  notifier.ready("holds /a");
  context.poll();
  std::vector<std::string> all;
  while (const auto next = manager.next()) {
    all.push_back(*next);
    // Now the queue has room for the datagram under way.
    context.poll();
  }
  CHECK(all.size() < 5'000);
  CHECK(all.back() == "READY=1\nSTATUS=holds /a");
}

TEST_CASE("service: the watchdog hears of us as long as both executors work") {
  NotifySocket manager;
  Context context;
  boost::asio::thread_pool other{1};
  ServiceNotifier notifier{context, {.socket = manager.address(), .watchdog = 30ms}};
  notifier.begin_beats(other.get_executor());
  int beats = 0;
  const Deadline deadline = 30s;
  while (beats < 3 && !deadline.passed()) {
    context.run_one_for(50ms);
    while (const auto next = manager.next()) {
      CHECK(next == "WATCHDOG=1");
      ++beats;
    }
  }
  CHECK(beats == 3);
  // The other executor runs nothing any more: one beat may be under way, and no further beat
  // follows.
  other.stop();
  other.join();
  context.run_for(100ms);
  while (manager.next()) {
  }
  context.run_for(200ms);
  CHECK(manager.next() == std::nullopt);
}

TEST_CASE("service: a manager that is gone is said once, and disturbs nothing") {
  Context context;
  std::string address;
  {
    NotifySocket manager;
    address = manager.address();
    ServiceNotifier notifier{context, {.socket = address}};
    notifier.status("waits");
    context.poll();
  }
  ServiceNotifier notifier{context, {.socket = address}};
  CHECK_FALSE(notifier.is_active());
  notifier.ready("holds");
  CHECK(context.poll() == 0);
}

TEST_CASE("service: without a manager nothing is sent, and nothing waits") {
  Context context;
  ServiceNotifier notifier{context, {}};
  CHECK_FALSE(notifier.is_active());
  notifier.starts("waits");
  notifier.begin_beats(context.get_executor());
  notifier.ready("holds");
  notifier.status("holds on");
  notifier.stops();
  CHECK(context.poll() == 0);
}

}  // namespace custodian::cli::service_notifier_test
