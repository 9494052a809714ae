#pragma once

/// \file
/// FewDescriptors keeps the process from opening more than a few files and sockets.

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/catch.hpp"

namespace custodian::tests {

/// While the object lives, this process gets at most `most` new descriptors: each call that wants
/// more fails with EMFILE. No other thread may open anything meanwhile.
class FewDescriptors {
 public:
  explicit FewDescriptors(int most) {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual_) == 0);
    // The kernel hands out the lowest free number. Above `next` all numbers are free.
    const int next = ::fcntl(STDIN_FILENO, F_DUPFD, 0);
    REQUIRE(next >= 0);
    ::close(next);
    rlimit few = usual_;
    few.rlim_cur = static_cast<rlim_t>(next) + static_cast<rlim_t>(most);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &usual_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit usual_{};
};

}  // namespace custodian::tests
