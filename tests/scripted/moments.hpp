#pragma once

/// \file
/// Moments is a fault plan that acts at certain requests of a client.

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "scripted/world.hpp"

namespace custodian::tests {

/// A request of a client: that with this number, counted from 0, among the requests of this kind
/// whose path begins with `path`.
struct NthRequest {
  std::string kind;
  int number = 0;
  std::string path{};
};

/// Acts at requests of a client.
class Moments final : public testing::FaultPlan {
 public:
  explicit Moments(std::string client) : client_{std::move(client)} {}

  /// Acts before the servers see the request.
  void before(NthRequest request, std::function<void()> act) {
    moments_.push_back({.request = std::move(request), .before = std::move(act)});
  }
  /// Acts when the servers have answered the request, before the client gets the answer.
  void behind(NthRequest request, std::function<void()> act) {
    moments_.push_back({.request = std::move(request), .behind = std::move(act)});
  }
  void fault_at(NthRequest request, Fault fault) {
    moments_.push_back({.request = std::move(request), .fault = fault});
  }
  /// Whether all of these moments have come.
  [[nodiscard]] bool have_come() const {
    return std::ranges::all_of(moments_, [](const Moment& each) {
      return (each.behind ? each.answered : each.sent) > each.request.number;
    });
  }

  Fault on_submit(const Submission& submission) override {
    Fault fault;
    for (Moment& each : moments_) {
      if (!is_of(each.request, submission) || each.sent++ != each.request.number) continue;
      if (each.before) each.before();
      if (each.fault.kind != FaultKind::pass) fault = each.fault;
    }
    return fault;
  }
  void before_reply(const Submission& submission, const Reply&) override {
    for (Moment& each : moments_) {
      if (!is_of(each.request, submission) || each.answered++ != each.request.number) continue;
      if (each.behind) each.behind();
    }
  }

 private:
  struct Moment {
    NthRequest request;
    std::function<void()> before{};
    std::function<void()> behind{};
    Fault fault{};
    int sent = 0;
    int answered = 0;
  };

  [[nodiscard]] bool is_of(const NthRequest& request, const Submission& submission) const {
    return submission.client == client_ && submission.kind == request.kind &&
           submission.path.starts_with(request.path);
  }

  const std::string client_;
  std::vector<Moment> moments_;
};

}  // namespace custodian::tests
