#include <algorithm>
#include <atomic>
#include <random>

#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "support/acquired.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::semaphore_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

/// Counts the holders, and notices if there were ever too many at once.
class Room {
 public:
  explicit Room(int limit) : limit_{limit} {}

  void visit(int permits) {
    const int inside = inside_ += permits;
    if (inside > limit_) broken_ = true;
    std::this_thread::sleep_for(1ms);
    inside_ -= permits;
    visits_ += permits;
  }
  [[nodiscard]] bool broken() const { return broken_; }
  [[nodiscard]] int visits() const { return visits_; }

 private:
  const int limit_;
  std::atomic<int> inside_ = 0;
  std::atomic<int> visits_ = 0;
  std::atomic<bool> broken_ = false;
};

/// The positions in the queue that an acquire reports.
class Position {
 public:
  [[nodiscard]] AcquireOptions options() const {
    AcquireOptions options;
    options.on_position = [ahead = ahead_](std::size_t now, const Participant&) { *ahead = now; };
    return options;
  }
  /// The reported position; 0 until there is one.
  [[nodiscard]] std::size_t ahead() const { return *ahead_; }

 private:
  std::shared_ptr<std::atomic<std::size_t>> ahead_ = std::make_shared<std::atomic<std::size_t>>(0);
};

/// Returns whether there is neither a holder nor a waiter.
bool is_empty(Client& client, const std::string& path) {
  return names_below(client, path + "/locks").empty() &&
         names_below(client, path + "/leases").empty();
}

TEST_CASE("as many are in as there are permits, and the next waits until one goes") {
  TestClient client{"permits"};
  InterProcessSemaphore semaphore{*client, "/semaphore", 2};
  Lease one = semaphore.acquire();
  const Lease two = semaphore.acquire();
  CHECK_FALSE(acquired(semaphore.try_acquire()));
  Position position;
  auto third = begun<std::vector<Lease>>(
      [&](auto done) { semaphore.async_acquire(1, position.options(), std::move(done)); });
  REQUIRE(eventually([&] { return position.ahead() == 1; }));
  CHECK(semaphore.queue_length() == 1);
  CHECK(semaphore.participants().size() == 3);
  CHECK(third.wait_for(0s) == std::future_status::timeout);
  one.release();
  const auto [error, leases] = third.get();
  CHECK_FALSE(error);
  REQUIRE(leases.size() == 1);
  CHECK(leases[0].token() > two.token());
  CHECK(leases[0].state() == LeaseState::held);
}

TEST_CASE("who holds permits is told by participants, in the order in which they came") {
  TestClient client{"holders"};
  InterProcessSemaphore semaphore{*client, "/semaphore", 5, {.identity = "somebody"}};
  CHECK(semaphore.participants().empty());
  CHECK(semaphore.queue_length() == 0);
  const std::vector<Lease> leases = semaphore.acquire(3);
  const std::vector<Participant> holders = semaphore.participants();
  REQUIRE(holders.size() == 3);
  for (std::size_t i = 0; i < holders.size(); ++i) {
    CHECK(holders[i].identity == "somebody");
    CHECK(std::ranges::find(leases, holders[i].node, &Lease::node) != leases.end());
    if (i > 0) CHECK(holders[i].token > holders[i - 1].token);
  }
}

TEST_CASE("several permits are had together or not at all, and given back one by one") {
  TestClient client{"weighted"};
  InterProcessSemaphore semaphore{*client, "/semaphore", 3};
  std::vector<Lease> two = semaphore.acquire(2);
  REQUIRE(two.size() == 2);
  CHECK(semaphore.try_acquire(2).permits.empty());
  CHECK(eventually([&] { return names_below(*client, "/semaphore/leases").size() == 2; }));
  Position position;
  auto all = begun<std::vector<Lease>>(
      [&](auto done) { semaphore.async_acquire(3, position.options(), std::move(done)); });
  REQUIRE(eventually([&] { return position.ahead() == 2; }));
  two.pop_back();
  CHECK(eventually([&] { return position.ahead() == 1; }));
  CHECK(all.wait_for(0s) == std::future_status::timeout);
  two.pop_back();
  CHECK(std::get<1>(all.get()).size() == 3);
  CHECK(eventually([&] { return is_empty(*client, "/semaphore"); }));
}

TEST_CASE(
    "a counter's maximum lets in who waits when it is raised, and nobody when it is lowered") {
  TestClient client{"resized"};
  SharedCount maximum{*client, "/maximum", 2};
  InterProcessSemaphore semaphore{*client, "/semaphore", maximum};
  std::vector<Lease> two = semaphore.acquire(2);
  CHECK_FALSE(acquired(semaphore.try_acquire()));
  auto three =
      begun<std::vector<Lease>>([&](auto done) { semaphore.async_acquire(3, std::move(done)); });
  REQUIRE(eventually([&] { return semaphore.queue_length() == 1; }));
  maximum.store(4);
  // The waiter has two of the four permits by now, and is in the queue for its third.
  REQUIRE(eventually([&] { return semaphore.participants().size() == 5; }));
  maximum.store(5);
  // The permits are released at once, with the future's value.
  REQUIRE(std::get<1>(three.get()).size() == 3);

  maximum.store(1);
  CHECK(two.back().state() == LeaseState::held);
  two.pop_back();
  CHECK(eventually([&] { return names_below(*client, "/semaphore/leases").size() == 1; }));
  CHECK_FALSE(acquired(semaphore.try_acquire()));
  two.clear();
  CHECK(eventually([&] { return acquired(semaphore.try_acquire()); }));
  maximum.store(0);
  CHECK_FALSE(acquired(semaphore.try_acquire()));
  client->set("/maximum", "no number");
  CHECK(error_of([&] { static_cast<void>(semaphore.acquire()); }) == Errc::malformed_data);
  CHECK(eventually([&] { return is_empty(*client, "/semaphore"); }));
}

TEST_CASE("a counter among the semaphore's own nodes, or above them, is no maximum") {
  TestClient client{"own-counter"};
  const auto refused = [&](const std::string& counter) {
    return error_of([&] {
             InterProcessSemaphore{*client, "/a/semaphore", SharedCount{*client, counter, 2}};
           }) == Errc::invalid_argument;
  };
  for (const char* counter : {"/a", "/a/semaphore", "/a/semaphore/locks", "/a/semaphore/leases",
                              "/a/semaphore/leases/maximum"}) {
    INFO(counter);
    CHECK(refused(counter));
  }
  for (const char* counter : {"/b", "/a/s", "/a/semaphores", "/a/semaphore/maximum"}) {
    INFO(counter);
    CHECK_FALSE(refused(counter));
  }
  InterProcessSemaphore semaphore{*client, "/a/semaphore",
                                  SharedCount{*client, "/a/semaphore/maximum", 2}};
  CHECK(semaphore.acquire(2).size() == 2);
  CHECK(error_of([&] { static_cast<void>(semaphore.try_acquire(1001)); }) ==
        Errc::invalid_argument);
}

TEST_CASE("a counter of another client is no maximum") {
  TestClient client{"strangers-counter"};
  TestClient stranger{"stranger"};
  const SharedCount maximum{*stranger, "/maximum", 2};
  CHECK(error_of([&] {
          InterProcessSemaphore{*client, "/semaphore", maximum};
        }) == Errc::invalid_argument);
}

TEST_CASE("who asks for many is not passed by who asks for few later") {
  TestClient client{"fair"};
  InterProcessSemaphore semaphore{*client, "/semaphore", 2};
  Lease one = semaphore.acquire();
  auto both =
      begun<std::vector<Lease>>([&](auto done) { semaphore.async_acquire(2, std::move(done)); });
  REQUIRE(eventually([&] { return semaphore.participants().size() == 3; }));
  // One permit is free, but reserved for the waiter.
  CHECK_FALSE(acquired(semaphore.try_acquire()));
  one.release();
  CHECK(std::get<1>(both.get()).size() == 2);
}

TEST_CASE("what can never be had is refused at once, in words") {
  TestClient client{"refused"};
  InterProcessSemaphore semaphore{*client, "/semaphore", 3};
  CHECK(error_of([&] { static_cast<void>(semaphore.acquire(4)); }) == Errc::invalid_argument);
  CHECK(message_of([&] {
          static_cast<void>(semaphore.acquire(4));
        }).find("4 can never be had of 3") != std::string::npos);
  CHECK(error_of([&] { static_cast<void>(semaphore.try_acquire(0)); }) == Errc::invalid_argument);
  CHECK(error_of([&] { semaphore.async_acquire(-1, [](error_code, std::vector<Lease>) {}); }) ==
        Errc::invalid_argument);
  CHECK(error_of([&] {
          InterProcessSemaphore{*client, "/semaphore", 0};
        }) == Errc::invalid_argument);
  CHECK(error_of([&] {
          InterProcessSemaphore{*client, "semaphore", 1};
        }) == Errc::invalid_argument);
  CHECK(error_of([&] {
          InterProcessSemaphore{*client, "/semaphore", 1, {.profile = NamingProfile::kazoo}};
        }) == Errc::invalid_argument);
}

TEST_CASE("ten clients take and return random numbers of permits, and never have too many") {
  TestClient first{"random"};
  constexpr int maximum = 7;
  Room room{maximum};
  std::vector<std::future<void>> threads;
  for (unsigned i = 0; i < 10; ++i) {
    threads.push_back(std::async(std::launch::async, [&, i] {
      ClientOptions options = options_for(connect_string());
      options.name_space = first.root();
      Client client{options};
      client.wait_connected();
      InterProcessSemaphore semaphore{client, "/semaphore", maximum};
      std::minstd_rand random{i + 1};
      for (int k = 0; k < 20; ++k) {
        const int permits = 1 + static_cast<int>(random() % maximum);
        const bool only_try = random() % 3 == 0;
        const std::vector<Lease> leases =
            only_try ? semaphore.try_acquire(permits).permits : semaphore.acquire(permits);
        if (!leases.empty()) room.visit(permits);
      }
    }));
  }
  for (auto& thread : threads) thread.get();
  CHECK_FALSE(room.broken());
  CHECK(room.visits() > 0);
  CHECK(eventually([&] { return is_empty(*first, "/semaphore"); }));
}

TEST_CASE("100 threads share 11 permits, taken singly and in chunks") {
  TestClient client{"chunks"};
  InterProcessSemaphore semaphore{*client, "/semaphore", 11};
  Room room{11};
  std::vector<std::future<void>> threads;
  for (int i = 0; i < 100; ++i) {
    threads.push_back(std::async(std::launch::async, [&, i] {
      const int permits = i % 2 == 0 ? 1 : 1 + i % 11;
      const std::vector<Lease> leases = semaphore.acquire(permits);
      room.visit(permits);
    }));
  }
  for (auto& thread : threads) thread.get();
  CHECK_FALSE(room.broken());
  CHECK(eventually([&] { return is_empty(*client, "/semaphore"); }));
}

TEST_CASE("closing a client frees its permits for others") {
  TestClient first{"closing"};
  ClientOptions options = options_for(connect_string());
  options.name_space = first.root();
  Client second{options};
  InterProcessSemaphore mine{second, "/semaphore", 2};
  InterProcessSemaphore semaphore{*first, "/semaphore", 2};
  const std::vector<Lease> held = mine.acquire(2);
  auto waiting =
      begun<std::vector<Lease>>([&](auto done) { semaphore.async_acquire(2, std::move(done)); });
  REQUIRE(eventually([&] { return semaphore.participants().size() == 4; }));
  second.close();
  CHECK(std::get<1>(waiting.get()).size() == 2);
  CHECK(held[0].state() == LeaseState::lost);
  CHECK(held[1].loss_reason() == LossReason::closed);
}

TEST_CASE("an acquire that is stopped or late leaves no node, wherever it waited") {
  TestClient client{"orphans"};
  InterProcessSemaphore semaphore{*client, "/semaphore", 2};
  const std::vector<Lease> held = semaphore.acquire(2);
  for (int i = 0; i < 20; ++i) {
    std::stop_source stop;
    // The first acquire waits at the turnstile for leases, and the second one behind it.
    auto first = std::async(std::launch::async, [&] {
      return error_of([&] { static_cast<void>(semaphore.acquire(2, stop.get_token())); });
    });
    auto second = std::async(std::launch::async, [&] {
      return semaphore.try_acquire_for(std::chrono::milliseconds{i});
    });
    if (i % 2 == 0) static_cast<void>(eventually([&] { return semaphore.queue_length() > 0; }));
    stop.request_stop();
    CHECK(first.get() == asio::error::operation_aborted);
    const AcquireResult none = second.get();
    CHECK_FALSE(none);
    CHECK(none.reason != NotAcquired::none);
  }
  CHECK(eventually([&] { return names_below(*client, "/semaphore/locks").empty(); }));
  CHECK(eventually([&] { return names_below(*client, "/semaphore/leases").size() == 2; }));
  CHECK(eventually([&] { return client->load().watches == 0 && client->load().operations == 0; }));
}

TEST_CASE("permits outlive a restart of the server, and acquires go on through it") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  // The session is long: a server's start may outlast a short one, and the places would be lost.
  TestClient client{"outage", server.connect_string(), 60s};
  InterProcessSemaphore semaphore{*client, "/semaphore", 2};
  Lease held = semaphore.acquire();
  auto waiting =
      begun<std::vector<Lease>>([&](auto done) { semaphore.async_acquire(2, std::move(done)); });
  REQUIRE(eventually([&] { return semaphore.participants().size() == 3; }));
  server.stop();
  auto late =
      begun<std::vector<Lease>>([&](auto done) { semaphore.async_acquire(1, std::move(done)); });
  server.start();
  held.release();
  auto [error, leases] = waiting.get();
  CHECK_FALSE(error);
  CHECK(leases.size() == 2);
  leases.clear();
  CHECK(std::get<1>(late.get()).size() == 1);
}

TEST_CASE("who finds their place at the turnstile deleted gives up their leases, too") {
  TestClient client{"turnstile"};
  InterProcessSemaphore semaphore{*client, "/semaphore", 1};
  const Lease held = semaphore.acquire();
  auto first =
      begun<std::vector<Lease>>([&](auto done) { semaphore.async_acquire(1, std::move(done)); });
  REQUIRE(eventually([&] { return semaphore.participants().size() == 2; }));
  for (const std::string& name : names_below(*client, "/semaphore/locks")) {
    client->remove("/semaphore/locks/" + name);
  }
  CHECK(std::get<0>(first.get()) == Errc::node_deleted);
  CHECK(eventually([&] { return names_below(*client, "/semaphore/leases").size() == 1; }));
}

TEST_CASE("the view has the functions of std::counting_semaphore, and permits of its own") {
  TestClient client{"counting"};
  InterProcessSemaphore semaphore{*client, "/semaphore", 3};
  {
    InterProcessSemaphore::Counting counting = semaphore.counting();
    InterProcessSemaphore::Counting copy = counting;
    counting.acquire();
    CHECK(acquired(counting.try_acquire()));
    CHECK(acquired(copy.try_acquire_for(10s)));
    CHECK_FALSE(acquired(counting.try_acquire()));
    CHECK_FALSE(acquired(counting.try_acquire_until(std::chrono::steady_clock::now())));
    std::async(std::launch::async, [&] { copy.release(2); }).get();
    CHECK(eventually([&] { return semaphore.participants().size() == 1; }));
    CHECK(error_of([&] { counting.release(2); }) == boost::system::errc::operation_not_permitted);
    CHECK(error_of([&] { semaphore.counting().release(); }) ==
          boost::system::errc::operation_not_permitted);
    CHECK(semaphore.participants().size() == 1);
  }
  CHECK(eventually([&] { return is_empty(*client, "/semaphore"); }));
}

}  // namespace
}  // namespace custodian::tests::semaphore_test
