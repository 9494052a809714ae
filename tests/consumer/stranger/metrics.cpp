#include <prometheus/registry.h>

#include <custodian/client.hpp>
#include <custodian/prometheus/prometheus_observer.hpp>

int main() {
  const auto registry = std::make_shared<prometheus::Registry>();
  const auto observer = std::make_shared<custodian::PrometheusObserver>(registry);
  const custodian::Client client{{.servers = "localhost:1", .observer = observer}};
  return registry->Collect().empty() ? 1 : 0;
}
