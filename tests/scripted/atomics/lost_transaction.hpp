#pragma once

/// \file
/// LostTransaction is a fault of the first transactions of one client.

#include <functional>
#include <string>

#include "scripted/world.hpp"

namespace custodian::tests {

class LostTransaction final : public testing::FaultPlan {
 public:
  LostTransaction(std::string client, Fault fault, int count = 1)
      : client_{std::move(client)}, fault_{fault}, count_{count} {}

  Fault on_submit(const Submission& submission) override {
    if (submission.client != client_ || submission.kind != "multi") return {};
    if (transactions_++ < count_) return fault_;
    if (repeated) repeated();
    return {};
  }

  /// Called before each later transaction.
  std::function<void()> repeated;

 private:
  const std::string client_;
  const Fault fault_;
  const int count_;
  int transactions_ = 0;
};

}  // namespace custodian::tests
