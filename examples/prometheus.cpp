// Metrics for Prometheus: a service whose threads take turns on a lock, and which serves the
// figures over HTTP.
//
//   custodian-example-prometheus 127.0.0.1:2181 127.0.0.1:9464
//   curl http://127.0.0.1:9464/metrics

#include <prometheus/exposer.h>
#include <prometheus/registry.h>

#include <csignal>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/prometheus/prometheus_observer.hpp"

namespace {

/// The client library of Prometheus keeps each value of a label for good, so /examples/orders/4711
/// and all other orders share the label "orders".
std::string lock_label(std::string_view path) {
  const auto begin = path.find('/', 1) + 1;
  return std::string{path.substr(begin, path.find('/', begin) - begin)};
}

void pack(const custodian::Client& client, const std::string& order) {
  custodian::InterProcessMutex mutex{client, "/examples/orders/" + order};
  std::vector<std::thread> packers;
  for (int i = 0; i < 4; ++i) {
    packers.emplace_back([&mutex] {
      for (int turn = 0; turn < 5; ++turn) const std::scoped_lock guard{mutex};
    });
  }
  for (std::thread& packer : packers) packer.join();
}

/// Tries to acquire a lock that is held, so that the metrics have a refusal.
void decline(const custodian::Client& client) {
  custodian::InterProcessMutex mutex{client, "/examples/invoices"};
  custodian::InterProcessMutex anothers{client, "/examples/invoices"};
  const custodian::Lease lease = mutex.acquire();
  if (const auto taken = anothers.try_acquire(); !taken)
    std::cout << "somebody else writes the invoices\n";
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...] address:port\n";
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
    const auto registry = std::make_shared<prometheus::Registry>();
    prometheus::Exposer exposer{argv[2]};
    exposer.RegisterCollectable(registry);

    const custodian::Client client{
        {.servers = argv[1],
         .observer = std::make_shared<custodian::PrometheusObserver>(
             registry, custodian::PrometheusOptions{.lock_label = lock_label})}};
    pack(client, "4711");
    pack(client, "4712");
    decline(client);
    std::cout << "metrics at port " << exposer.GetListeningPorts().front() << '\n' << std::flush;
    int signal = 0;
    sigwait(&signals, &signal);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
