// The one main() of all suites. Each test case is watched (watchdog.hpp) and counted (results.hpp).
#define CATCH_CONFIG_RUNNER
#include <chrono>
#include <cstdlib>

#include "support/catch.hpp"
#include "support/results.hpp"
#include "support/sanitizers.hpp"
#include "support/watchdog.hpp"

#ifdef CUSTODIAN_THREAD_SANITIZER
/// The only suppression. Boost.Asio counts the owners of an any_io_executor with a fence
/// (detail/atomic_count.hpp), which ThreadSanitizer does not understand: it reports a race between
/// the last owner's delete and the previous owner.
extern "C" const char* __tsan_default_suppressions();   // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __tsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "race:^boost::asio::execution::detail::any_executor_base::destroy_shared(";
}
#endif

namespace {

std::chrono::seconds case_timeout() {
  if (const char* seconds = std::getenv("CUSTODIAN_TEST_TIMEOUT"); seconds != nullptr) {
    if (const long value = std::strtol(seconds, nullptr, 10); value > 0)
      return std::chrono::seconds{value};
  }
  return std::chrono::seconds{CUSTODIAN_TEST_TIMEOUT};
}

#if CUSTODIAN_CATCH_MAJOR >= 3
using ListenerBase = Catch::EventListenerBase;
#else
using ListenerBase = Catch::TestEventListenerBase;
#endif

class Listener : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;

  void testCaseStarting(Catch::TestCaseInfo const& info) override {
    ListenerBase::testCaseStarting(info);
    custodian::tests::results().start(info.name);
    watchdog_.start(info.name);
  }

  void testCaseEnded(Catch::TestCaseStats const& stats) override {
    watchdog_.stop();
    custodian::tests::results().end(stats.totals.testCases.failed == 0);
    ListenerBase::testCaseEnded(stats);
  }

 private:
  custodian::tests::Watchdog watchdog_{case_timeout()};
};

CATCH_REGISTER_LISTENER(Listener)

}  // namespace

int main(int argc, char* argv[]) {
  const int status = Catch::Session().run(argc, argv);
  custodian::tests::results().print_skipped();
  return status;
}
