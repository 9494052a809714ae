// A service handles requests of tenants, each under the lock of its tenant. The client keeps each
// lock between the requests, so most requests send nothing to the servers. At the end a second
// instance has a request of the same tenant, and gets the lock at once.
//
//   custodian-example-kept_lock 127.0.0.1:2181

#include <chrono>
#include <iostream>
#include <mutex>
#include <string>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

using namespace std::chrono_literals;

namespace {

class Instance {
 public:
  explicit Instance(const std::string& servers) : client_{servers} {}

  void handle(const std::string& tenant) {
    // Each request makes a lock object of its own: the client keeps the lock, not the object.
    custodian::InterProcessMutex mutex{
        client_, "/examples/tenants/" + tenant, {.keep_idle_for = 10s}};
    const std::scoped_lock lock{mutex};
    ++handled_;
  }
  [[nodiscard]] int handled() const { return handled_; }
  [[nodiscard]] std::size_t kept_locks() const { return client_.kept_locks(); }

 private:
  custodian::Client client_;
  int handled_ = 0;
};

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    Instance one{argv[1]};
    Instance two{argv[1]};
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 10'000; ++i) one.handle("acme");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::cout << one.handled() << " requests, " << one.handled() / took.count() << " a second; "
              << one.kept_locks() << " lock is kept\n";

    two.handle("acme");
    std::cout << "another instance had its turn; " << one.kept_locks()
              << " locks are kept by the first\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
