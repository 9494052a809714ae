// Which paths a constructor refuses.

#include "custodian/leader/leader_latch.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/locks/striped_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::lock_paths_test {
namespace {

/// The text of the refusal; empty if there is none.
template <typename Construct>
std::string refusal(Construct construct) {
  try {
    construct();
    return {};
  } catch (const Error& error) {
    CHECK(error.code() == Errc::invalid_argument);
    return error.what();
  }
}

TEST_CASE("lock paths: the root and ZooKeeper's own nodes are refused by every recipe") {
  World world;
  auto client = world.client("mine");
  for (const std::string path : {"/", "/zookeeper", "/zookeeper/quota"}) {
    CHECK_FALSE(refusal([&] { InterProcessMutex{*client, path}; }).empty());
    CHECK_FALSE(refusal([&] { InterProcessReadWriteLock{*client, path}; }).empty());
    CHECK_FALSE(refusal([&] { LeaderLatch{*client, path}; }).empty());
  }
  CHECK_FALSE(refusal([&] { InterProcessSemaphore{*client, "/zookeeper", 1}; }).empty());
  CHECK_FALSE(refusal([&] { StripedMutex{*client, "/zookeeper", 2}; }).empty());
}

TEST_CASE("lock paths: none is below a lock of the same client, while that lock exists") {
  World world;
  auto client = world.client("mine");
  {
    const InterProcessMutex above{*client, "/inventory"};
    const std::string text = refusal([&] { InterProcessMutex{*client, "/inventory/hot/deep"}; });
    CHECK(text.find("a lock at /inventory") != std::string::npos);
    CHECK_FALSE(refusal([&] { InterProcessSemaphore{*client, "/inventory/hot", 2}; }).empty());
    // Locks at the same path, or beside it, are allowed.
    CHECK(refusal([&] { InterProcessMutex{*client, "/inventory"}; }).empty());
    CHECK(refusal([&] { InterProcessMutex{*client, "/inventory-hot"}; }).empty());
    CHECK_FALSE(refusal([&] { InterProcessMutex{*client, "/inventory/hot"}; }).empty());
  }
  CHECK(refusal([&] { InterProcessMutex{*client, "/inventory/hot"}; }).empty());
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::lock_paths_test
