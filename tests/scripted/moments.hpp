#pragma once

/// \file
/// Moments acts while a client's requests are under way.

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "scripted/world.hpp"

namespace custodian::tests {

/// Acts before the servers see a request of a client: the n-th of its kind.
class Moments final : public testing::FaultPlan {
 public:
  explicit Moments(std::string client) : client_{std::move(client)} {}

  void at(const std::string& kind, int number, std::function<void()> act) {
    acts_[{kind, number}] = [act = std::move(act)] {
      act();
      return Fault{};
    };
  }
  void fault_at(const std::string& kind, int number, Fault fault) {
    acts_[{kind, number}] = [fault] { return fault; };
  }
  Fault on_submit(const Submission& submission) override {
    if (submission.client != client_) return {};
    const auto found = acts_.find({submission.kind, sent_[submission.kind]++});
    return found == acts_.end() ? Fault{} : found->second();
  }

 private:
  const std::string client_;
  std::map<std::pair<std::string, int>, std::function<Fault()>> acts_;
  std::map<std::string, int> sent_;
};

}  // namespace custodian::tests
