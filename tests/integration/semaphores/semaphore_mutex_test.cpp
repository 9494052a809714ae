#include <mutex>

#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::semaphore_mutex_test {
namespace {

using namespace std::chrono_literals;

bool is_empty(Client& client, const std::string& path) {
  return names_below(client, path + "/locks").empty() &&
         names_below(client, path + "/leases").empty();
}

TEST_CASE("ten threads of each of two clients exclude each other") {
  TestClient first{"crowd"};
  ClientOptions options = options_for(connect_string());
  options.name_space = first.root();
  Client second{options};
  InterProcessSemaphoreMutex mine{*first, "/mutex"};
  InterProcessSemaphoreMutex yours{second, "/mutex"};
  int counter = 0;  // protected by the lock alone
  std::vector<std::future<void>> threads;
  for (int i = 0; i < 20; ++i) {
    threads.push_back(std::async(std::launch::async, [&, i] {
      for (int k = 0; k < 5; ++k) {
        const std::scoped_lock guard{i % 2 == 0 ? mine : yours};
        ++counter;
      }
    }));
  }
  for (auto& thread : threads) thread.get();
  CHECK(counter == 100);
  CHECK(eventually([&] { return is_empty(*first, "/mutex"); }));
}

TEST_CASE("one thread may lock it, and another unlock it; nobody locks it twice") {
  TestClient client{"anybody"};
  InterProcessSemaphoreMutex mutex{*client, "/mutex"};
  CHECK(error_of([&] { mutex.unlock(); }) == boost::system::errc::operation_not_permitted);
  mutex.lock();
  CHECK(mutex.current_lease().state() == LeaseState::held);
  CHECK_FALSE(mutex.try_lock());
  CHECK_FALSE(mutex.try_lock_for(0ms));
  std::async(std::launch::async, [&] { mutex.unlock(); }).get();
  CHECK(mutex.current_lease().state() == LeaseState::released);
  CHECK(mutex.try_lock_until(std::chrono::steady_clock::now() + 10s));
  mutex.unlock();
  CHECK(error_of([&] { mutex.unlock(); }) == boost::system::errc::operation_not_permitted);
  CHECK(eventually([&] { return is_empty(*client, "/mutex"); }));
}

TEST_CASE("its lease face: who comes in vain is told who holds it, who waits gets it next") {
  TestClient client{"leases"};
  InterProcessSemaphoreMutex mutex{*client, "/mutex", {.identity = "me"}};
  Lease held = mutex.acquire();
  const FencingToken token = held.token();
  const AcquireResult in_vain = mutex.try_acquire();
  CHECK_FALSE(in_vain);
  REQUIRE(in_vain.blocked_by);
  CHECK(in_vain.blocked_by->node == held.node());
  CHECK(in_vain.blocked_by->identity == "me");
  auto waiting = begun<Lease>([&](auto done) { mutex.async_acquire(done); });
  REQUIRE(eventually([&] { return mutex.participants().size() == 2; }));
  held.release();
  const auto [error, lease] = waiting.get();
  CHECK_FALSE(error);
  CHECK(lease.token() > token);
}

TEST_CASE("a session that ends under the holder lets the next one in, and its unlock is quiet") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  TestClient first{"expired", server.connect_string()};
  ClientOptions options = options_for(server.connect_string());
  options.name_space = first.root();
  Client second{options};
  InterProcessSemaphoreMutex mine{*first, "/mutex"};
  InterProcessSemaphoreMutex yours{second, "/mutex"};
  mine.lock();
  auto waiting = begun<Lease>([&](auto done) { yours.async_acquire(done); });
  REQUIRE(eventually([&] { return yours.participants().size() == 2; }));
  const SessionInfo session = first->session();
  server.expire_session(session.id, session.password);
  CHECK_FALSE(std::get<0>(waiting.get()));
  CHECK(eventually([&] { return mine.current_lease().state() == LeaseState::lost; }));
  CHECK_NOTHROW(mine.unlock());
}

}  // namespace
}  // namespace custodian::tests::semaphore_mutex_test
