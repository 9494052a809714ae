#include "moving/contender.hpp"

#include <algorithm>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "moving/lines.hpp"
#include "moving/plan.hpp"

namespace custodian::tests::moving {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// How often a holder looks at its lease, and how often it writes.
constexpr std::chrono::milliseconds look_every = 5ms;
constexpr std::chrono::milliseconds write_every = 100ms;

/// Longer than any fault lasts.
constexpr std::chrono::milliseconds at_last = 80s;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& each : words) text += (text.empty() ? "" : ",") + each;
  return text;
}

/// "/locks/g3/p37 4294967296:17", with which most lines go on.
std::string named(const std::string& path, const MovingLease& lease) {
  return path + " " + to_string(lease.token());
}

bool is_lost(const MovingLease& lease) { return lease.state() == LeaseState::lost; }

}  // namespace

Contender::Contender(const Site& site) : site_{site} {
  register_.connect({asio::ip::address_v4::loopback(), site.register_port});
}

bool Contender::take(const std::string& path, std::chrono::milliseconds limit,
                     const std::function<bool()>& goes_on) {
  const std::int64_t asked = now();
  MovingMutex mutex{site_.map, path};
  MovingAcquireResult result;
  try {
    result = mutex.try_acquire_for(limit);
  } catch (const Error& error) {
    say("wrong an acquire has failed: " + std::string{error.what()});
    return true;
  }
  not_acquired_ = result.explain();
  if (!result.lease) return false;
  const std::int64_t granted = now();
  // If the lease was lost before the clock was read, there was no hold at that time.
  if (is_lost(result.lease)) return true;
  say("begin " + named(path, result.lease) + " " + std::to_string(granted) + " " +
      joined(result.lease.homes()) + " " + std::to_string((granted - asked) / 1'000'000));
  hold(path, result.lease, granted, goes_on);
  return true;
}

void Contender::take_at_last(const std::string& path, const std::function<bool()>& goes_on) {
  if (!take(path, at_last, goes_on))
    say("wrong a waiter of " + path + " is stuck: " + not_acquired_);
}

void Contender::hold(const std::string& path, MovingLease& lease, std::int64_t granted,
                     const std::function<bool()>& goes_on) {
  // The process may have stood still since the grant.
  std::int64_t until = granted;
  std::int64_t write_at = 0;
  for (;;) {
    // The clock is read before the lease, so that the lease is held at that time.
    const std::int64_t time = now();
    if (is_lost(lease)) {
      say("lost " + named(path, lease) + " " + std::to_string(std::min(time, until)));
      // Plays a holder that does not notice the loss: after this time another process may hold the
      // path.
      std::this_thread::sleep_for(site_.session_timeout);
      return write(path, lease);
    }
    until = time + lease.remaining().count();
    if (!goes_on()) {
      say("end " + named(path, lease) + " " + std::to_string(time));
      return lease.release();
    }
    if (time >= write_at) {
      write(path, lease);
      write_at = time + std::chrono::nanoseconds{write_every}.count();
    }
    std::this_thread::sleep_for(look_every);
  }
}

void Contender::write(const std::string& path, const MovingLease& lease) {
  write_fenced(path, lease);
  write_guarded(path, lease);
}

void Contender::write_fenced(const std::string& path, const MovingLease& lease) {
  const std::int64_t sent = now();
  asio::write(register_, asio::buffer(named(path, lease) + "\n"));
  const std::size_t size = asio::read_until(register_, asio::dynamic_buffer(received_), '\n');
  const std::string answer = received_.substr(0, size - 1);
  received_.erase(0, size);
  if (answer == "landed") {
    say("landed " + named(path, lease) + " " + std::to_string(sent) + " " + std::to_string(now()));
  } else {
    say("refused " + named(path, lease) + (is_lost(lease) ? " stale" : " good"));
  }
}

void Contender::write_guarded(const std::string& path, const MovingLease& lease) {
  for (const std::string& home : lease.homes()) {
    const std::string line = named(path, lease) + " " + home + " ";
    try {
      Transaction transaction{lease.check(home), set(guarded_node(path), to_string(lease.token()))};
      const auto report = [line](error_code error, const std::vector<TransactionResult>& results) {
        if (error) return say("unwritten " + line + error.message());
        say("wrote " + line + std::to_string(results.at(1).stat.mzxid));
      };
      site_.clients.at(home).async_commit(std::move(transaction), {.deadline = 5s}, report);
    } catch (const Error& error) {
      // The old home was given up in between.
      say("unwritten " + line + error.code().message());
    }
  }
}

}  // namespace custodian::tests::moving
