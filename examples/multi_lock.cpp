// Several locks as one: all of them or none.
//
//   custodian-example-multi_lock 127.0.0.1:2181

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "custodian/client.hpp"
#include "custodian/lock_sets/custom_lock.hpp"
#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

using namespace std::chrono_literals;

void transfer(const custodian::Client& client) {
  // All callers must name the two locks in the same order: otherwise two callers could wait for
  // each other for ever.
  const custodian::InterProcessMutex from{client, "/examples/accounts/1"};
  const custodian::InterProcessMutex to{client, "/examples/accounts/2"};
  custodian::InterProcessMultiLock both{{from, to}};

  const custodian::GroupAcquireResult result = both.try_acquire_for(10s);
  if (!result) {
    std::cout << "not now; in the way at " << result.path << '\n';
    return;
  }
  for (const custodian::Lease& lease : result.leases.leases())
    std::cout << "holding one with token " << to_string(lease.token()) << '\n';
}

// A lock that Custodian does not know: flock(2) on a file or folder, which excludes other programs
// on this machine.
class FileLock final : public custodian::CustomLock {
 public:
  explicit FileLock(std::string file) : file_{std::move(file)} {}

  std::string name() const override { return file_; }

  // Tries once, and never waits: the multi-lock tries again after a pause, until its limit.
  void async_acquire(custodian::CustomLimit, custodian::CustomAnswer answer) override {
    auto hold = std::make_unique<Hold>(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
    if (hold->lock()) return answer({}, std::move(hold));
    if (errno != EWOULDBLOCK) return answer({errno, boost::system::system_category()}, nullptr);
    answer({}, nullptr);
  }

 private:
  class Hold final : public custodian::CustomHold {
   public:
    explicit Hold(int file) : file_{file} {}
    ~Hold() override { release(); }
    bool lock() const { return ::flock(file_, LOCK_EX | LOCK_NB) == 0; }
    void release() override {
      if (const int file = std::exchange(file_, -1); file >= 0) ::close(file);
    }

   private:
    int file_;
  };

  const std::string file_;
};

void print(const custodian::Client& client) {
  const custodian::InterProcessMutex printer{client, "/examples/printer"};
  const auto spool = std::make_shared<FileLock>("/var/spool");
  custodian::InterProcessMultiLock both{{printer, spool}};

  const custodian::GroupAcquireResult result = both.try_acquire_for(10s);
  std::cout << (result ? "holding " + spool->name() : result.explain()) << '\n';
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    transfer(client);
    print(client);
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
