#pragma once

/// \file
/// Metrics keeps what the client reports about locks, in the form that Prometheus reads.

#include <memory>
#include <optional>
#include <string>

#include "custodian/observer.hpp"

namespace inventory {

class Metrics {
 public:
  /// The value of ClientOptions::observer; null if the program was built without metrics.
  [[nodiscard]] std::shared_ptr<custodian::Observer> observer();
  /// The page that Prometheus reads; nothing if the program was built without metrics.
  [[nodiscard]] std::optional<std::string> page() const;

  Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  ~Metrics();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace inventory
