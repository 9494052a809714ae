#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace custodian::tests {

// Results records the outcome of each test case, for the program that sums up the suites. When
// CUSTODIAN_TEST_RESULTS names a directory, a line is appended to the file of this suite there when
// a case starts and when it ends, so that the file of a suite that dies still shows in which case.
class Results {
 public:
  Results();
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  void start(std::string case_name);
  // To be called within a case that cannot run here: Catch2 2 cannot skip, and would call the case
  // passed.
  void skip(const std::string& reason);
  void end(bool passed);
  void print_skipped() const;

 private:
  void write(const char* what) const;

  std::FILE* file_ = nullptr;
  std::string case_name_;
  bool skipped_ = false;
  std::vector<std::string> skipped_cases_;
};

Results& results();

}  // namespace custodian::tests

// Returns from a test case, which then counts as skipped.
#define CUSTODIAN_SKIP(reason)                  \
  do {                                          \
    ::custodian::tests::results().skip(reason); \
    return;                                     \
  } while (false)
