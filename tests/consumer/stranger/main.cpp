#include <custodian/locks/inter_process_mutex.hpp>
#include <custodian/testing/testing_server.hpp>
#include <mutex>

int main() {
  custodian::testing::TestingServer server;
  custodian::Client client{server.connect_string()};
  custodian::InterProcessMutex mutex{client, "/locks/printer"};
  std::scoped_lock guard{mutex};
}
