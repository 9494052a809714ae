#pragma once

/// \file
/// MetricsPage is a PrometheusObserver, and the page that a Prometheus server would read.

#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <memory>
#include <string>
#include <utility>

#include "custodian/prometheus/prometheus_observer.hpp"

namespace custodian::tests {

struct MetricsPage {
  explicit MetricsPage(PrometheusOptions options = {}) : observer{registry, std::move(options)} {}

  [[nodiscard]] std::string text() const {
    return prometheus::TextSerializer{}.Serialize(registry->Collect());
  }
  /// The value of a series on the page; empty if there is no such series.
  [[nodiscard]] std::string value(const std::string& series) const {
    const std::string page = "\n" + text();
    const auto found = page.find("\n" + series + " ");
    if (found == std::string::npos) return {};
    const auto begin = found + series.size() + 2;
    return page.substr(begin, page.find('\n', begin) - begin);
  }

  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  PrometheusObserver observer;
};

}  // namespace custodian::tests
