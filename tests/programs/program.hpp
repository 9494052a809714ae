#pragma once

/// \file
/// Runs a program as a user does, and returns its output and exit status. Each program may take a
/// minute.

#include <unistd.h>

#include <boost/process.hpp>
#include <csignal>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "support/directory.hpp"

namespace custodian::tests {

struct Result {
  int status = -1;
  std::string output;
};

/// A process that the destructor ends if it still runs. The process is a timeout(1), which passes
/// the signal on.
class Child {
 public:
  template <typename... Words>
  explicit Child(Words&&... words) : process_{std::forward<Words>(words)...} {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    std::error_code ignored;
    if (!process_.running(ignored)) return;
    ::kill(process_.id(), SIGTERM);
    process_.wait(ignored);
  }

  boost::process::child* operator->() { return &process_; }
  const boost::process::child* operator->() const { return &process_; }

 private:
  boost::process::child process_;
};

class Program {
 public:
  Program(const std::string& program, const std::vector<std::string>& arguments)
      // timeout(1) passes signals on, and its child's exit status back.
      : child_{std::string{CUSTODIAN_TIMEOUT}, boost::process::args(words(program, arguments)),
               boost::process::std_in<boost::process::null,
                                      (boost::process::std_out & boost::process::std_err)>
                   output_} {}

  /// Waits until the program prints these words. Returns false if it ends without them.
  [[nodiscard]] bool says(const std::string& words) {
    for (std::string line; std::getline(output_, line);) {
      read_ += line + '\n';
      if (line.find(words) != std::string::npos) return true;
    }
    return false;
  }
  /// The last word of the output so far.
  [[nodiscard]] std::string last_word() const {
    const auto end = read_.find_last_not_of(" \n") + 1;
    const auto begin = read_.find_last_of(" \n", end - 1) + 1;
    return read_.substr(begin, end - begin);
  }
  void signal(int number) const { ::kill(child_->id(), number); }
  [[nodiscard]] Result result() {
    for (std::string line; std::getline(output_, line);) read_ += line + '\n';
    child_->wait();
    return {child_->exit_code(), read_};
  }

 private:
  static std::vector<std::string> words(const std::string& program,
                                        const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"--kill-after=5", "60", program};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }

  boost::process::ipstream output_;
  Child child_;
  std::string read_;
};

inline Result run(const std::string& program, const std::vector<std::string>& arguments) {
  return Program{program, arguments}.result();
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace custodian::tests
