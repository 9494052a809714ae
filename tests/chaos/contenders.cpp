#include "contenders.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <exception>
#include <iomanip>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace custodian::chaos {
namespace {

/// The pause between two polls.
constexpr std::chrono::milliseconds moment{20};

std::string in_hexadecimal(const std::string& bytes) {
  std::ostringstream text;
  text << std::hex << std::setfill('0');
  for (const char byte : bytes)
    text << std::setw(2) << static_cast<int>(static_cast<unsigned char>(byte));
  return text.str();
}

ClientOptions client_options(const ContenderSettings& settings) {
  ClientOptions options;
  options.servers = settings.servers;
  if (!settings.authority_file.empty())
    options.tls = TlsOptions{.ca_file = settings.authority_file};
  options.session_timeout = settings.session_timeout;
  options.touch_interval = settings.touch_interval;
  // The connect timeout is short: a member that accepts and stays silent must not use up the
  // session timeout.
  options.connect_timeout = settings.session_timeout / 4;
  options.identity = settings.name;
  return options;
}

}  // namespace

Contenders::Contenders(ContenderSettings settings, DriverLine& driver)
    : settings_{std::move(settings)},
      driver_{driver},
      journal_{std::make_shared<Journal>(settings_.directory / ("worker-" + settings_.name))},
      seeds_{settings_.seed},
      client_{client_options(settings_)} {
  for (const std::string& lock : settings_.locks)
    locks_.emplace_back(client_, settings_.root, lock);
}

void Contenders::run() {
  client_.wait_connected();
  driver_.say("ready");

  auto work = asio::make_work_guard(context_);
  for (int i = 0; i < settings_.coroutines; ++i) start_coroutine(make_contender());
  for (ContendedLock& lock : locks_) {
    for (int i = 0; lock.is_passed_on() && i < settings_.regulars; ++i)
      start_coroutine(make_contender(&lock));
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < settings_.threads; ++i) {
    threads.emplace_back([this, contender = make_contender()] { contend_in_thread(contender); });
  }
  std::thread io{[this] { context_.run(); }};
  for (std::thread& thread : threads) thread.join();
  work.reset();
  io.join();

  // A kept lock has a watch.
  client_.release_kept_locks();
  driver_.say("done " + std::to_string(load_when_idle()));
  client_.close();
}

void Contenders::start_coroutine(ContenderPtr contender) {
  // An exception of a contender terminates the process, and the driver notices that.
  asio::co_spawn(context_, contend_in_coroutine(std::move(contender)),
                 [](std::exception_ptr failure) {
                   if (failure) std::rethrow_exception(failure);
                 });
}

std::size_t Contenders::load_when_idle() const {
  // The client may still be deleting the nodes of the last holders.
  const Deadline limit{settings_.session_timeout};
  for (;;) {
    const auto load = client_.load();
    if (load.operations + load.watches == 0 || limit.passed())
      return load.operations + load.watches;
    std::this_thread::sleep_for(10ms);
  }
}

Contenders::ContenderPtr Contenders::make_contender(ContendedLock* only) {
  asio::ip::tcp::socket socket{context_};
  socket.connect({asio::ip::address_v4::loopback(), settings_.register_port});
  return std::make_shared<Contender>(
      Contender{std::mt19937_64{seeds_()},
                Writes{client_.share(), settings_.root, journal_, attempts_, std::move(socket),
                       settings_.session_timeout / 4},
                only});
}

Contenders::Turn Contenders::begin(Contender& contender) {
  ContendedLock& lock =
      contender.only != nullptr ? *contender.only : locks_[contender.random() % locks_.size()];
  const Turn turn{.id = ++last_turn_, .lock = &lock, .use = lock.any_use(contender.random)};
  std::ostringstream begun;
  begun << "begun " << turn.id << ' ' << lock.name() << ' ' << lock.share_of(turn.use);
  journal_->note(begun.str());
  return turn;
}

void Contenders::end_without_lease(const Turn& turn, error_code error) {
  std::string how;
  if (!error) {
    how = "declined";
  } else if (error == asio::error::operation_aborted) {
    how = "cancelled";
  } else if (error == Errc::deadline_exceeded || error == Errc::deadline_exceeded_outcome_unknown) {
    how = "deadline";
  } else if (error == Errc::not_connected ||
             (turn.tries_only && error == ServerErrc::connection_loss)) {
    how = "disconnected";
  } else if (error == Errc::node_deleted) {
    how = "deleted";
  } else {
    how = "failed:" + error.message();
    std::ranges::replace(how, ' ', '_');
  }
  journal_->note("ended " + std::to_string(turn.id) + " " + how);
}

void Contenders::contend_in_thread(const ContenderPtr& contender) {
  while (!driver_.finishing()) {
    if (driver_.wants_quiet()) {
      std::this_thread::sleep_for(moment);
      continue;
    }
    Turn turn = begin(*contender);
    std::shared_ptr<void> standard;
    Lease lease;
    error_code failure;
    try {
      switch (contender->random() % 5) {
        case 0:
          turn.tries_only = true;
          lease = turn.lock->try_acquire(turn.use);
          break;
        case 1:
          lease = turn.lock->try_acquire_for(turn.use,
                                             between(*contender, 1ms, settings_.session_timeout));
          break;
        case 2: std::tie(lease, standard) = turn.lock->lock(turn.use); break;
        default: lease = turn.lock->acquire(turn.use); break;
      }
    } catch (const Error& error) {
      failure = error.code();
    }
    const auto now = BootClock::now();
    if (lease) {
      asio::co_spawn(context_, hold(contender, turn, std::move(lease), now), asio::use_future)
          .get();
    } else {
      end_without_lease(turn, failure);
    }
    std::this_thread::sleep_for(between(*contender, 0ms, 20ms));
  }
}

asio::awaitable<void> Contenders::contend_in_coroutine(ContenderPtr contender) {
  while (!driver_.finishing()) {
    if (driver_.wants_quiet()) {
      co_await pause(moment);
      continue;
    }
    const Turn turn = begin(*contender);
    // One acquire in four is cancelled after a while, unless it has ended by then.
    const auto patience = contender->random() % 4 == 0
                              ? between(*contender, 0ms, settings_.session_timeout)
                              : std::chrono::hours{24};
    asio::steady_timer timer{context_, patience};
    // The timer's handler shares the signal, since it may already be posted when the timer is
    // cancelled.
    auto cancellation = std::make_shared<asio::cancellation_signal>();
    timer.async_wait([cancellation](error_code error) {
      if (!error) cancellation->emit(asio::cancellation_type::total);
    });
    auto [error, lease] = co_await turn.lock->async_acquire(turn.use, cancellation);
    const auto now = BootClock::now();
    timer.cancel();
    if (lease) {
      Lease granted = std::move(lease);
      co_await hold(contender, turn, std::move(granted), now);
    } else {
      end_without_lease(turn, error);
    }
    const auto rest = between(*contender, 0ms, 20ms);
    co_await pause(rest);
  }
}

asio::awaitable<void> Contenders::hold(ContenderPtr contender, Turn turn, Lease lease,
                                       BootClock::time_point granted) {
  const std::string& lock = turn.lock->name();
  // A holder that shares the lock with others must not write.
  const bool writes = turn.use == Use::exclusive;
  const auto until = BootClock::now() + between(*contender, 0ms, 20ms);
  const SessionInfo session = client_.session();
  const auto watch =
      std::make_shared<HoldWatch>(journal_, turn.id, std::move(lease), granted, session.id);
  const std::string token = to_string(watch->lease().token());
  driver_.say("granted " + lock + " " + token);

  bool kept = false;
  if (writes) co_await contender->writes.write(watch, lock);
  for (;;) {
    if (watch->lease().state() == LeaseState::lost) break;
    const bool keeps = writes && driver_.keeps(lock);
    if (keeps && !std::exchange(kept, true)) {
      std::ostringstream told;
      told << "kept " << lock << ' ' << token << ' ' << watch->lease().node() << ' ' << session.id
           << ' ' << in_hexadecimal(session.password);
      driver_.say(told.str());
    }
    if (!keeps && BootClock::now() >= until) break;
    co_await pause(moment);
    // The write comes before the next check of the lease: a process that was stopped here writes
    // with its old lease.
    if (driver_.wants_quiet() || !writes) {
      co_await contender->writes.read(lock);
    } else {
      co_await contender->writes.write(watch, lock);
    }
  }
  if (watch->lease().state() == LeaseState::lost) {
    if (kept) driver_.say("lost " + lock + " " + token);
    if (writes) co_await contender->writes.write(watch, lock);
  }
  watch->release();
}

asio::awaitable<void> Contenders::pause(std::chrono::milliseconds length) {
  asio::steady_timer timer{context_, length};
  co_await timer.async_wait(asio::use_awaitable);
}

std::chrono::milliseconds Contenders::between(Contender& contender, std::chrono::milliseconds least,
                                              std::chrono::milliseconds most) {
  std::uniform_int_distribution<std::chrono::milliseconds::rep> lengths{least.count(),
                                                                        most.count()};
  return std::chrono::milliseconds{lengths(contender.random)};
}

}  // namespace custodian::chaos
