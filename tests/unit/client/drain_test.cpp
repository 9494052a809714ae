#include "client/drain.hpp"

#include <boost/asio/io_context.hpp>
#include <string>
#include <thread>

#include "custodian/error.hpp"
#include "support/catch.hpp"

namespace custodian::tests::drain_test {
namespace {

using detail::Drain;
using namespace std::chrono_literals;
namespace asio = boost::asio;

using TimerPtr = std::shared_ptr<asio::steady_timer>;

/// A timer that ends only if it is cancelled, which `cancelled` then shows.
TimerPtr timer_on(asio::io_context& context, bool& cancelled) {
  auto timer = std::make_shared<asio::steady_timer>(context, 1h);
  timer->async_wait([&cancelled](const error_code& error) { cancelled = error.failed(); });
  return timer;
}

TEST_CASE("a drain begins once") {
  Drain drain;
  CHECK_FALSE(drain.draining());
  CHECK(drain.begin());
  CHECK_FALSE(drain.begin());
  CHECK(drain.draining());
}

TEST_CASE("the last lease of a client that drains wakes what waits for it, and no other does") {
  Drain drain;
  CHECK_FALSE(drain.count(+1));
  CHECK(drain.has_hold());
  CHECK_FALSE(drain.count(-1));
  CHECK_FALSE(drain.has_hold());
  CHECK(drain.begin());
  static_cast<void>(drain.count(+1));
  CHECK_FALSE(drain.count(+1));
  CHECK_FALSE(drain.count(-1));
  CHECK(drain.count(-1));
}

TEST_CASE("a wait for the last lease is none when there is none") {
  Drain drain;
  drain.wait(Deadline::never());
}

TEST_CASE("a wait for the last lease ends with it") {
  Drain drain;
  static_cast<void>(drain.count(+1));
  std::thread holder{[&drain] { static_cast<void>(drain.count(-1)); }};
  drain.wait(Deadline{1min});
  holder.join();
  CHECK_FALSE(drain.has_hold());
}

TEST_CASE("a wait for the last lease ends when the holders are cut off") {
  Drain drain;
  static_cast<void>(drain.count(+1));
  std::thread closer{[&drain] { drain.cut_holders_off(); }};
  drain.wait(Deadline::never());
  closer.join();
  CHECK(drain.has_hold());
  CHECK(drain.has_cut_holders_off());
}

TEST_CASE("a wait for the last lease ends at its deadline") {
  Drain drain;
  static_cast<void>(drain.count(+1));
  drain.wait(Deadline{1ms});
  CHECK(drain.has_hold());
}

TEST_CASE("nobody is cut off who had released before") {
  Drain drain;
  static_cast<void>(drain.count(+1));
  static_cast<void>(drain.count(-1));
  CHECK_FALSE(drain.has_cut_holders_off());
  drain.cut_holders_off();
  CHECK_FALSE(drain.has_cut_holders_off());
}

TEST_CASE("timers are cancelled together, once, and those that are gone are passed over") {
  asio::io_context context;
  Drain drain;
  bool first = false;
  bool second = false;
  const TimerPtr kept = timer_on(context, first);
  drain.cancel_when_drained(kept);
  {
    bool never_read = false;
    TimerPtr gone = timer_on(context, never_read);
    drain.cancel_when_drained(gone);
    gone.reset();
    context.poll();
  }
  const TimerPtr other = timer_on(context, second);
  drain.cancel_when_drained(other);
  drain.cancel_timers();
  context.poll();
  CHECK(first);
  CHECK(second);
  second = false;
  const TimerPtr later = timer_on(context, second);
  drain.cancel_timers();
  context.poll();
  CHECK_FALSE(second);
}

TEST_CASE("what follows the notification of holders runs at once when there are none") {
  Drain drain;
  bool ran = false;
  drain.when_notified([&ran] { ran = true; });
  CHECK(ran);
}

TEST_CASE("what follows the notification of holders waits for it, in order, and runs once") {
  Drain drain;
  std::string order;
  drain.begin_notifying();
  drain.when_notified([&order] { order += 'a'; });
  drain.when_notified([&order] { order += 'b'; });
  CHECK(order.empty());
  drain.end_notifying();
  CHECK(order == "ab");
  drain.end_notifying();
  CHECK(order == "ab");
}

TEST_CASE("what follows the notification may ask again") {
  Drain drain;
  bool ran = false;
  drain.begin_notifying();
  drain.when_notified([&] { drain.when_notified([&ran] { ran = true; }); });
  drain.end_notifying();
  CHECK(ran);
}

}  // namespace
}  // namespace custodian::tests::drain_test
