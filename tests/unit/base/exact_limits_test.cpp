// Values that are exactly at a limit, and those just beyond it.

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cerrno>
#include <memory>
#include <string>

#include "base/boot_timers.hpp"
#include "base/connection_string.hpp"
#include "base/encoded_size.hpp"
#include "base/ensemble_config.hpp"
#include "base/runs_on_this_thread.hpp"
#include "client/beat_part.hpp"
#include "support/catch.hpp"
#include "unit/closed_input.hpp"

namespace custodian::tests::exact_limits_test {
namespace {

namespace asio = boost::asio;
using detail::parse_connection_string;

std::string refusal_of(const std::string& servers) {
  try {
    static_cast<void>(parse_connection_string("Client", servers));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("a host name may be as long as a resolver allows", "[connection_string]") {
  const std::string label(63, 'a');
  CHECK(refusal_of(label).empty());
  CHECK(refusal_of(label + "a").find("1 to 63") != std::string::npos);
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'a');
  REQUIRE(longest.size() == 253);
  CHECK(refusal_of(longest).empty());
  CHECK(refusal_of(longest + "a").find("253") != std::string::npos);
}

TEST_CASE("what follows an address without brackets is taken for a port if it can be one",
          "[connection_string]") {
  CHECK(refusal_of("::1:12345").find("[::1]:12345") != std::string::npos);
  CHECK(refusal_of("::1:123456").find("[::1]:123456") == std::string::npos);
  CHECK(refusal_of("::1:abc").find("[::1]:abc") == std::string::npos);
  CHECK(refusal_of("::1:").find("[::1]:") == std::string::npos);
}

TEST_CASE("the letters at both ends of the alphabet have no case in a host name",
          "[connection_string]") {
  CHECK(parse_connection_string("Client", "A,a").hosts.size() == 1);
  CHECK(parse_connection_string("Client", "Z,z").hosts.size() == 1);
}

TEST_CASE("a configuration of 64 KiB is read, and no longer one", "[ensemble_config]") {
  const std::string version = "version=1";
  const std::string fill(std::size_t{64} * 1024 - version.size(), '\n');
  CHECK(detail::parse_ensemble_config(version + fill));
  CHECK_FALSE(detail::parse_ensemble_config(version + fill + "\n"));
}

TEST_CASE("a part of a beat is filled to its last byte", "[beat_part]") {
  request::Multi two;
  for (int i = 0; i != 2; ++i) {
    two.operations.emplace_back(transaction::Check{std::string(10, '/')});
  }
  detail::BeatPart part{detail::encoded_size(Request{two}) * detail::BeatPart::share};
  CHECK(part.add(10));
  CHECK(part.add(10));
  CHECK_FALSE(part.add(10));
}

bool runs_here(const asio::any_io_executor& executor) {
  return detail::runs_on_this_thread(executor);
}

TEST_CASE("an executor runs on a thread that runs its context, through strands of any kind",
          "[runs_on_this_thread]") {
  asio::io_context context{1};
  asio::thread_pool pool{1};
  const asio::any_io_executor plain = context.get_executor();
  const asio::any_io_executor strand = asio::make_strand(context.get_executor());
  const asio::any_io_executor strand_of_any = asio::make_strand(plain);
  const asio::any_io_executor strand_of_strand =
      asio::strand<asio::any_io_executor>{asio::any_io_executor{strand}};
  const asio::any_io_executor others = asio::make_strand(pool.get_executor());
  for (const auto& each : {plain, strand, strand_of_any, strand_of_strand, others}) {
    CHECK_FALSE(runs_here(each));
  }
  int run = 0;
  asio::post(context, [&] {
    ++run;
    for (const auto& each : {plain, strand, strand_of_any, strand_of_strand}) {
      CHECK(runs_here(each));
    }
    CHECK_FALSE(runs_here(others));
  });
  context.run();
  CHECK(run == 1);
  pool.join();
}

struct Timers {
  asio::io_context context{1};
  detail::BootTimers::Strand strand{context.get_executor()};
  std::shared_ptr<detail::BootTimers> timers =
      std::make_shared<detail::BootTimers>(strand, nullptr, context.get_executor());
};

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) != -1; }

TEST_CASE("a timerfd may have the number 0, in a process without a standard input",
          "[boot_timers]") {
  auto there = std::make_unique<Timers>();
  const ClosedInput closed;
  errno = EBADF;
  CHECK_FALSE(there->timers->open());
  CHECK(is_open(0));
  there.reset();
  CHECK_FALSE(is_open(0));
}

TEST_CASE("a timerfd that the executor does not take is closed", "[boot_timers]") {
  Timers there;
  REQUIRE_FALSE(there.timers->open());
  const int next = ::dup(1);
  ::close(next);
  // One timerfd is there already.
  CHECK(there.timers->open());
  CHECK_FALSE(is_open(next));
}

TEST_CASE("a timer that is cancelled by one that is due at the same time does not ring",
          "[boot_timers]") {
  Timers there;
  REQUIRE_FALSE(there.timers->open());
  const std::string keys = "ab";
  int rung = 0;
  const auto past = BootClock::now() - std::chrono::seconds{1};
  asio::post(there.strand, [&] {
    there.timers->set(&keys[0], past, [&] {
      ++rung;
      there.timers->cancel(&keys[1]);
    });
    there.timers->set(&keys[1], past + std::chrono::milliseconds{1}, [&] { rung += 10; });
  });
  CHECK_NOTHROW(there.context.run_for(std::chrono::seconds{20}));
  CHECK(rung == 1);
}

}  // namespace
}  // namespace custodian::tests::exact_limits_test
