// An orderly end on SIGTERM, the signal that stops a container: no new work begins, work under way
// may finish, and the session is closed, so that its locks pass on at once.
//
//   custodian-example-drain 127.0.0.1:2181     and then kill it, or press Ctrl-C

#include <chrono>
#include <csignal>
#include <iostream>
#include <thread>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

using namespace std::chrono_literals;

/// Works, one turn after another, until the client refuses another turn.
void work(custodian::InterProcessMutex& mutex) {
  try {
    for (;;) {
      const custodian::Lease lease = mutex.acquire();
      std::cout << "working with token " << to_string(lease.token()) << '\n' << std::flush;
      std::this_thread::sleep_for(200ms);
    }
  } catch (const custodian::Error& error) {
    if (error.code() != custodian::Errc::closed) std::cerr << error.what() << '\n';
  }
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  // The signals are blocked before any other thread exists, since threads inherit the mask: they
  // stay pending until sigwait() takes one.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    custodian::Client client{argv[1]};
    custodian::InterProcessMutex mutex{client, "/examples/drain"};
    std::thread worker{work, std::ref(mutex)};
    int signal = 0;
    sigwait(&signals, &signal);

    // The worker has ten seconds to finish its turn, and gets no further turn.
    const bool drained = client.close(10s);
    worker.join();
    std::cout << (drained ? "drained" : "a turn was cut short") << '\n' << std::flush;
    return drained ? 0 : 1;
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
