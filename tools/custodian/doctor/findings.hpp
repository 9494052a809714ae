#pragma once

/// \file
/// Findings is a list of findings that a diagnosis adds to.

#include <string>
#include <utility>
#include <vector>

#include "doctor/diagnosis.hpp"

namespace custodian::cli {

class Findings {
 public:
  void add(Verdict verdict, std::string check, std::string subject, std::string text,
           std::string advice) {
    all_.push_back(
        {verdict, std::move(check), std::move(subject), std::move(text), std::move(advice)});
  }
  void ok(std::string check, std::string subject, std::string text, std::string advice = {}) {
    add(Verdict::ok, std::move(check), std::move(subject), std::move(text), std::move(advice));
  }
  void warn(std::string check, std::string subject, std::string text, std::string advice) {
    add(Verdict::warn, std::move(check), std::move(subject), std::move(text), std::move(advice));
  }
  void fail(std::string check, std::string subject, std::string text, std::string advice) {
    add(Verdict::fail, std::move(check), std::move(subject), std::move(text), std::move(advice));
  }
  void append(std::vector<Finding> others) {
    for (Finding& each : others) all_.push_back(std::move(each));
  }

  [[nodiscard]] std::vector<Finding> take() { return std::move(all_); }

 private:
  std::vector<Finding> all_;
};

}  // namespace custodian::cli
