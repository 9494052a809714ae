#pragma once

/// \file
/// LateAt makes one create of a client late; the tests of late creates share it.

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "scripted/world.hpp"

namespace custodian::tests::late_creates {

/// A time limit: many times the delay before a client looks for late creates. Without that look the
/// lock would stay blocked for ever.
inline constexpr std::chrono::seconds soon{5};

/// Makes one of a client's creates late, and counts them.
class LateAt final : public testing::FaultPlan {
 public:
  LateAt(std::size_t at, int requests_later, std::string client = "observed")
      : at_{at}, requests_later_{requests_later}, client_{std::move(client)} {}

  Fault on_submit(const Submission& submission) override {
    const bool creates = (submission.kind == "multi" && transactions_create) ||
                         (submission.kind == "create" && submission.path.find("_c_") != npos);
    if (submission.client != client_ || !creates || creates_++ != at_) return {};
    if (on_late) on_late();
    return {.kind = FaultKind::apply_late, .requests_later = requests_later_};
  }
  [[nodiscard]] bool was_there() const { return creates_ > at_; }

  std::function<void()> on_late;
  bool transactions_create = false;  ///< counts transactions as creates; set only where no beat or
                                     ///< fence is a transaction

 private:
  static constexpr auto npos = std::string::npos;
  const std::size_t at_;
  const int requests_later_;
  const std::string client_;
  std::size_t creates_ = 0;
};

}  // namespace custodian::tests::late_creates
