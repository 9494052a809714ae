#include "support/results.hpp"

#include <cstdlib>
#include <utility>

namespace custodian::tests {

Results& results() {
  static Results instance;
  return instance;
}

Results::Results() {
  const char* directory = std::getenv("CUSTODIAN_TEST_RESULTS");
  if (directory == nullptr) return;
  const char* suite = std::getenv("CUSTODIAN_TEST_SUITE");
  const std::string path =
      std::string{directory} + "/" + (suite != nullptr ? suite : "other.suite");
  file_ = std::fopen(path.c_str(), "ae");
}

Results::~Results() {
  if (file_ != nullptr) std::fclose(file_);
}

void Results::start(std::string case_name) {
  case_name_ = std::move(case_name);
  skipped_ = false;
  write("started");
}

void Results::skip(const std::string& reason) {
  skipped_ = true;
  skipped_cases_.push_back(case_name_ + " (" + reason + ")");
}

void Results::end(bool passed) {
  if (!passed) {
    write("failed");
  } else {
    write(skipped_ ? "skipped" : "passed");
  }
}

void Results::print_skipped() const {
  if (skipped_cases_.empty()) return;
  std::printf("%zu skipped, counted as passed above:\n", skipped_cases_.size());
  for (const auto& skipped : skipped_cases_) std::printf("  %s\n", skipped.c_str());
}

void Results::write(const char* what) const {
  if (file_ == nullptr) return;
  std::fprintf(file_, "%s\t%s\n", what, case_name_.c_str());
  std::fflush(file_);
}

}  // namespace custodian::tests
