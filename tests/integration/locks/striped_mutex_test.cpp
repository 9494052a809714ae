#include "custodian/locks/striped_mutex.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <mutex>
#include <set>

#include "support/acquired.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::striped_mutex_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

/// The options of another client below the same root.
ClientOptions beside(const TestClient& client) {
  ClientOptions options = options_for(connect_string());
  options.name_space = client.root();
  return options;
}

std::size_t contenders(Client& client, const StripedMutex& mutex) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < mutex.size(); ++i) {
    sum += names_below(client, mutex.path() + "/" + std::to_string(i)).size();
  }
  return sum;
}

std::vector<Lease> hold_all(StripedMutex& mutex) {
  std::vector<Lease> leases;
  for (std::size_t i = 0; i < mutex.size(); ++i) leases.push_back(mutex[i].acquire());
  return leases;
}

TEST_CASE("five sessions sell a stock of 100 in five keys of 20, and exactly 100") {
  TestClient first{"stock"};
  constexpr std::size_t keys = 5;
  for (std::size_t i = 0; i < keys; ++i) first->create("/left-" + std::to_string(i), "20");
  std::atomic<int> sold = 0;
  const auto sell_all = [&] {
    Client client{beside(first)};
    StripedMutex stock{client, "/stock", keys};
    std::set<std::size_t> empty;
    while (empty.size() < keys) {
      const StripeLease any = stock.acquire_any();
      const std::string node = "/left-" + std::to_string(any.index);
      const int left = std::stoi(client.get(node).data);
      if (left == 0) {
        empty.insert(any.index);
        continue;
      }
      // The write has neither a version nor a guard: only the lock protects the count.
      client.set(node, std::to_string(left - 1));
      ++sold;
    }
  };
  std::vector<std::future<void>> sellers;
  for (int i = 0; i < 5; ++i) sellers.push_back(std::async(std::launch::async, sell_all));
  for (auto& seller : sellers) seller.get();
  CHECK(sold == 100);
  for (std::size_t i = 0; i < keys; ++i) {
    CHECK(first->get("/left-" + std::to_string(i)).data == "0");
  }
  const StripedMutex stock{*first, "/stock", keys};
  CHECK(eventually([&] { return contenders(*first, stock) == 0; }));
}

TEST_CASE("a key has always the same mutex, with both faces") {
  TestClient client{"keys"};
  StripedMutex mutex{*client, "/striped", 5};
  StripedMutex same{*client, "/striped", 5};
  CHECK(mutex.size() == 5);
  CHECK(mutex.path() == "/striped");
  // The CRC-32 of this key is 0xCBF43926.
  CHECK(mutex.stripe_of("123456789") == 0xCBF43926U % 5);
  CHECK(mutex.for_key("123456789").path() == "/striped/" + std::to_string(0xCBF43926U % 5));
  CHECK(&mutex.for_key("a") == &mutex.stripe(mutex.stripe_of("a")));
  const std::scoped_lock guard{mutex.for_key("a")};
  CHECK(mutex.for_key("a").is_held_by_this_thread());
  CHECK_FALSE(acquired(same.for_key("a").try_acquire()));
  const Lease other = same.stripe((same.stripe_of("a") + 1) % 5).acquire();
  CHECK(other.state() == LeaseState::held);
  CHECK(mutex.for_key("a").participants().size() == 1);
}

TEST_CASE("what is no stripe is refused at once, in words") {
  TestClient client{"refused"};
  const auto make = [&](const std::string& path, std::size_t stripes) {
    return error_of([&] { StripedMutex{*client, path, stripes}; });
  };
  CHECK(make("/striped", 0) == Errc::invalid_argument);
  CHECK(make("/striped", StripedMutex::most_stripes + 1) == Errc::invalid_argument);
  CHECK(make("striped", 1) == Errc::invalid_argument);
  CHECK_FALSE(make("/striped", StripedMutex::most_stripes));
  StripedMutex mutex{*client, "/striped", 3};
  CHECK(error_of([&] { static_cast<void>(mutex.stripe(3)); }) == Errc::invalid_argument);
  CHECK(message_of([&] { static_cast<void>(mutex.stripe(3)); }).find("there are 3") !=
        std::string::npos);
}

TEST_CASE("any stripe that is free is taken and told, and none if all are held") {
  TestClient client{"any"};
  StripedMutex mutex{*client, "/striped", 3};
  std::vector<StripeLease> all;
  for (int i = 0; i < 3; ++i) all.push_back(i == 0 ? mutex.acquire_any() : mutex.try_acquire_any());
  std::set<std::size_t> indices;
  for (const StripeLease& any : all) {
    REQUIRE(any);
    CHECK(any.lease.state() == LeaseState::held);
    CHECK(any.lease.node().find("/striped/" + std::to_string(any.index) + "/") !=
          std::string::npos);
    indices.insert(any.index);
  }
  CHECK(indices.size() == 3);
  CHECK_FALSE(acquired(mutex.try_acquire_any()));
  CHECK_FALSE(acquired(mutex.try_acquire_any_until(std::chrono::steady_clock::now())));
  CHECK_FALSE(acquired(mutex.try_acquire_any_for(2s)));
  const std::size_t freed = all[1].index;
  all[1].lease.release();
  const StripeLease again = mutex.try_acquire_any_for(patience);
  REQUIRE(again);
  CHECK(again.index == freed);
  CHECK(eventually([&] { return contenders(*client, mutex) == 3; }));
}

TEST_CASE("who waits for any stripe wakes with the first that is released, whichever it is") {
  TestClient client{"wakes"};
  Client other{beside(client)};
  StripedMutex mutex{*client, "/striped", 3};
  StripedMutex others{other, "/striped", 3};
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<Lease> held = hold_all(others);
    auto any = begun<StripeLease>([&](auto done) { mutex.async_acquire_any(std::move(done)); });
    REQUIRE(eventually([&] { return contenders(*client, mutex) == 6; }));
    CHECK(any.wait_for(0s) == std::future_status::timeout);
    held[i].release();
    const auto [error, lease] = any.get();
    CHECK_FALSE(error);
    CHECK(lease.index == i);
    CHECK(lease.lease.state() == LeaseState::held);
    // The acquire has left the other queues.
    CHECK(eventually([&] { return contenders(*client, mutex) == 3; }));
  }
  CHECK(eventually([&] { return contenders(*client, mutex) == 0; }));
  CHECK(eventually([&] { return client->load().watches == 0 && client->load().operations == 0; }));
}

TEST_CASE("of stripes that are released at once a waiter keeps one") {
  TestClient client{"surplus"};
  Client other{beside(client)};
  StripedMutex mutex{*client, "/striped", 4};
  StripedMutex others{other, "/striped", 4};
  for (int i = 0; i < 10; ++i) {
    std::vector<Lease> held = hold_all(others);
    auto any = begun<StripeLease>([&](auto done) { mutex.async_acquire_any(std::move(done)); });
    REQUIRE(eventually([&] { return contenders(*client, mutex) == 8; }));
    held.clear();
    const auto [error, lease] = any.get();
    CHECK_FALSE(error);
    CHECK(lease);
    CHECK(eventually([&] { return contenders(*client, mutex) == 1; }));
  }
}

TEST_CASE("who is stopped, cancelled or late while it waits for any stripe leaves no node") {
  TestClient client{"given-up"};
  Client other{beside(client)};
  StripedMutex mutex{*client, "/striped", 3};
  StripedMutex others{other, "/striped", 3};
  const std::vector<Lease> held = hold_all(others);
  for (int i = 0; i < 10; ++i) {
    std::stop_source stop;
    asio::cancellation_signal signal;
    auto stopped = std::async(std::launch::async, [&] {
      return error_of([&] { static_cast<void>(mutex.acquire_any(stop.get_token())); });
    });
    auto cancelled = begun<StripeLease>([&](auto done) {
      mutex.async_acquire_any(asio::bind_cancellation_slot(signal.slot(), std::move(done)));
    });
    const StripeLease none = mutex.try_acquire_any_for(std::chrono::milliseconds{10 * i});
    CHECK_FALSE(none);
    CHECK(none.reason != NotAcquired::none);
    if (i % 2 == 0) CHECK(eventually([&] { return contenders(*client, mutex) == 9; }));
    stop.request_stop();
    signal.emit(asio::cancellation_type::total);
    CHECK(stopped.get() == asio::error::operation_aborted);
    CHECK(std::get<0>(cancelled.get()) == asio::error::operation_aborted);
    CHECK(eventually([&] { return contenders(*client, mutex) == 3; }));
  }
  CHECK(eventually([&] { return client->load().watches == 0 && client->load().operations == 0; }));
}

TEST_CASE("a client that is closed ends who waits for any stripe, and leaves no node") {
  TestClient client{"closing"};
  StripedMutex mutex{*client, "/striped", 2};
  const std::vector<Lease> held = hold_all(mutex);
  Client other{beside(client)};
  StripedMutex others{other, "/striped", 2};
  auto any = begun<StripeLease>([&](auto done) { others.async_acquire_any(std::move(done)); });
  REQUIRE(eventually([&] { return contenders(*client, mutex) == 4; }));
  CHECK(other.close(patience));
  CHECK(std::get<0>(any.get()) == Errc::closed);
  CHECK(eventually([&] { return contenders(*client, mutex) == 2; }));
}

TEST_CASE("a waiter for any stripe outlives its session, and says so") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient client{"session"};
  Client other{beside(client)};
  StripedMutex mutex{*client, "/striped", 2};
  StripedMutex others{other, "/striped", 2};
  std::vector<Lease> held = hold_all(mutex);
  const auto requeued = std::make_shared<std::atomic<int>>(0);
  AcquireOptions options;
  options.on_requeued = [requeued] { ++*requeued; };
  auto any =
      begun<StripeLease>([&](auto done) { others.async_acquire_any(options, std::move(done)); });
  REQUIRE(eventually([&] { return contenders(*client, mutex) == 4; }));
  const std::int64_t before = other.session().id;
  own_server().expire_session(before, other.session().password);
  REQUIRE(eventually([&] { return other.session().id != before && *requeued == 1; }));
  REQUIRE(eventually([&] { return contenders(*client, mutex) == 4; }));
  held[1].release();
  const auto [error, lease] = any.get();
  CHECK_FALSE(error);
  CHECK(lease.index == 1);
}

TEST_CASE("a thread that holds all stripes is refused another, for it would wait for itself") {
  TestClient client{"deadlock"};
  StripedMutex mutex{*client, "/striped", 2};
  mutex[0].lock();
  StripeLease second = mutex.acquire_any();
  CHECK(second.index == 1);
  second.lease.release();
  mutex[1].lock();
  CHECK(error_of([&] { static_cast<void>(mutex.acquire_any()); }) ==
        boost::system::errc::resource_deadlock_would_occur);
  CHECK_FALSE(acquired(mutex.try_acquire_any()));
  mutex[0].unlock();
  mutex[1].unlock();
  CHECK(eventually([&] { return contenders(*client, mutex) == 0; }));
}

}  // namespace
}  // namespace custodian::tests::striped_mutex_test
