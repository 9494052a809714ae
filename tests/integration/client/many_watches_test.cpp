/// \file
/// A client that waits for so many locks that one request cannot restore all their watches.

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "support/sanitizers.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::many_watches_test {
namespace {

using namespace std::chrono_literals;

/// The longest packet that clients have sent to a server. Threads: any.
class LongestPacket {
 public:
  /// Measures the packets of one connection, however they are split.
  [[nodiscard]] testing::StreamEdit measure() {
    struct Reading {
      std::string header;
      std::uint64_t left = 0;
    };
    return [this, reading = Reading{}](std::string_view bytes) mutable {
      for (std::string_view rest = bytes; !rest.empty();) {
        if (reading.left > 0) {
          const auto skipped = std::min<std::uint64_t>(reading.left, rest.size());
          reading.left -= skipped;
          rest.remove_prefix(skipped);
          continue;
        }
        reading.header += rest.front();
        rest.remove_prefix(1);
        if (reading.header.size() < 4) continue;
        for (const char each : std::exchange(reading.header, {})) {
          reading.left = reading.left << 8U | static_cast<unsigned char>(each);
        }
        note(reading.left);
      }
      return std::string{bytes};
    };
  }
  [[nodiscard]] std::uint64_t value() const { return longest_; }

 private:
  void note(std::uint64_t size) {
    std::uint64_t known = longest_;
    while (known < size && !longest_.compare_exchange_weak(known, size)) {
    }
  }

  std::atomic<std::uint64_t> longest_ = 0;
};

/// Many locks that one client holds, each with a waiter. All waiters belong to another client,
/// whose connection can be cut.
class Crowd {
 public:
  Crowd(std::size_t locks, std::size_t servers_limit, std::size_t told_limit) {
    testing::TestingServerOptions options;
    options.jute_max_buffer = servers_limit;
    server_.emplace(options);
    // The holder connects directly: its beats are not measured.
    holder_.emplace(options_of(server_->connect_string(), servers_limit));
    testing::FaultProxyOptions proxied;
    // Packets within TLS cannot be measured on the way.
    if (!over_tls()) proxied.edit_to_server = [this] { return longest_.measure(); };
    proxy_.emplace(server_->endpoint(), proxied);
    ClientOptions of_waiter = options_of(proxy_->connect_string(), told_limit);
    of_waiter.log = [this](LogLevel level, std::string_view) {
      errors_ += level == LogLevel::error;
    };
    waiter_.emplace(of_waiter);
    states_ = waiter_->on_connection_state(
        [this](ConnectionState state) { lost_ += state == ConnectionState::lost; });
    hold(locks);
    wait(locks);
    session_ = waiter_->session().id;
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd() = default;

  /// Cuts the connection, and waits until every watch is set again. Returns false if that takes too
  /// long.
  bool cut() {
    const std::uint64_t before = waiter_->session().connection;
    proxy_->cut();
    return eventually([&] { return waiter_->session().connection > before && stands(); }, 1min);
  }
  /// Returns whether each waiter has its watches, as its client and the server count them.
  [[nodiscard]] bool stands() {
    const Session::Load load = waiter_->load();
    return is_connected(waiter_->connection_state()) && load.operations == 0 &&
           load.watches == 2 * locks_ &&
           server_->statistic("zk_watch_count") == static_cast<std::int64_t>(2 * locks_);
  }
  /// Makes all holders release. Returns false if not every waiter gets its lock.
  bool release_all() {
    leases_.clear();
    return eventually([&] { return granted_ == locks_; }, 1min);
  }

  [[nodiscard]] std::int64_t session() const { return session_; }
  [[nodiscard]] Client& waiter() { return *waiter_; }
  [[nodiscard]] int sessions_lost() const { return lost_; }
  [[nodiscard]] int places_lost() const { return requeued_; }
  [[nodiscard]] int errors_logged() const { return errors_; }
  [[nodiscard]] std::size_t failed() const { return failed_; }
  [[nodiscard]] std::uint64_t longest_packet() const { return longest_.value(); }

 private:
  static ClientOptions options_of(const std::string& servers, std::size_t limit) {
    ClientOptions options = options_for(servers);
    if (limit != 0) options.max_request_size = limit;
    return options;
  }
  static std::string path(std::size_t lock) { return "/locks/" + std::to_string(1'000'000 + lock); }

  void hold(std::size_t locks) {
    for (std::size_t i = 0; i < locks; ++i) {
      InterProcessMutex lock{*holder_, path(i)};
      lock.async_acquire([this](error_code error, Lease lease) {
        const std::lock_guard guard{leases_mutex_};
        if (!error) leases_.push_back(std::move(lease));
      });
    }
    REQUIRE(eventually([&] { return held() == locks; }, 1min));
  }
  [[nodiscard]] std::size_t held() {
    const std::lock_guard guard{leases_mutex_};
    return leases_.size();
  }

  void wait(std::size_t locks) {
    locks_ = locks;
    AcquireOptions options;
    options.on_requeued = [this] { ++requeued_; };
    for (std::size_t i = 0; i < locks; ++i) {
      InterProcessMutex lock{*waiter_, path(i)};
      lock.async_try_acquire_until(Deadline::never(), options,
                                   [this](error_code error, const AcquireResult& result) {
                                     ++(error || !result ? failed_ : granted_);
                                   });
    }
    const bool stand = eventually([&] { return stands(); }, 1min);
    INFO("of " << 2 * locks_ << " watches the client has " << waiter_->load().watches
               << " and the server " << server_->statistic("zk_watch_count") << "; "
               << waiter_->load().operations << " operations are under way, " << failed_
               << " acquires have failed, " << lost_ << " sessions are lost");
    REQUIRE(stand);
  }

  // These members are declared before the clients, whose handlers use them.
  std::mutex leases_mutex_;
  std::vector<Lease> leases_;
  std::size_t locks_ = 0;
  LongestPacket longest_;
  std::atomic<std::size_t> granted_ = 0;
  std::atomic<std::size_t> failed_ = 0;
  std::atomic<int> requeued_ = 0;
  std::atomic<int> lost_ = 0;
  std::atomic<int> errors_ = 0;
  std::optional<Server> server_;
  std::optional<testing::FaultProxy> proxy_;
  std::optional<Client> holder_;
  std::optional<Client> waiter_;
  Subscription states_;
  std::int64_t session_ = 0;
};

/// The usual number, or the one in the environment: a test that fails with 7,000 waiters can be
/// repeated with fewer, in less time.
std::size_t count_from(const char* variable, std::size_t usually) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? usually : std::strtoul(given, nullptr, 10);
}

void check_cuts(std::size_t locks, std::size_t limit) {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Crowd crowd{locks, limit, limit};
  const std::size_t cuts = count_from("CUSTODIAN_TEST_CUTS", 3);
  for (std::size_t i = 0; i < cuts; ++i) {
    const auto began = std::chrono::steady_clock::now();
    REQUIRE(crowd.cut());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    WARN("cut " << i + 1 << ": all " << 2 * locks << " watches stand again after " << took.count()
                << " s");
  }
  WARN("longest packet: " << crowd.longest_packet() << " bytes");
  CHECK(crowd.longest_packet() < (limit == 0 ? 0xfffff : limit));
  CHECK(crowd.session() == crowd.waiter().session().id);
  CHECK(crowd.sessions_lost() == 0);
  CHECK(crowd.places_lost() == 0);
  CHECK(crowd.errors_logged() == 0);
  CHECK(crowd.release_all());
  CHECK(crowd.failed() == 0);
}

// The watches of some 5,000 waiters do not fit into one request. Sanitizers find faults with fewer
// waiters, too, and the next test covers watches that do not fit.
#if defined(CUSTODIAN_THREAD_SANITIZER) || defined(CUSTODIAN_ADDRESS_SANITIZER)
constexpr std::size_t usual_waiters = 1'000;
#else
constexpr std::size_t usual_waiters = 7'000;
#endif

TEST_CASE("thousands of waiters of one client keep their places through cuts") {
  check_cuts(count_from("CUSTODIAN_TEST_WAITERS", usual_waiters), 0);
}

TEST_CASE("many waiters keep their places through cuts where servers accept small requests only") {
  check_cuts(count_from("CUSTODIAN_TEST_WAITERS_32K", 500), 32'768);
}

TEST_CASE("a limit of the servers that the client was not told of is noticed, and costs no place") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Crowd crowd{500, 32'768, 0};
  REQUIRE(crowd.cut());
  CHECK(crowd.session() == crowd.waiter().session().id);
  CHECK(crowd.sessions_lost() == 0);
  CHECK(crowd.places_lost() == 0);
  CHECK(crowd.errors_logged() == 1);
  // At the next cut the client knows the server's limit.
  REQUIRE(crowd.cut());
  CHECK(crowd.release_all());
  CHECK(crowd.failed() == 0);
}

}  // namespace
}  // namespace custodian::tests::many_watches_test
