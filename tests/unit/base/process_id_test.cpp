#include "base/process_id.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.hpp"

namespace custodian::tests::process_id_test {

namespace {

using custodian::detail::process_id;

/// Returns whether the function returns true in a forked child. Asserts nothing, since this process
/// may be a child itself.
template <typename Function>
bool in_child(Function function) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(function() ? 0 : 1);
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

TEST_CASE("a process knows its id, and so do a forked child and that one's child") {
  CHECK(process_id() == ::getpid());
  CHECK(process_id() == ::getpid());
  CHECK(in_child([] { return process_id() == ::getpid(); }));
  CHECK(in_child([] {
    return process_id() == ::getpid() && in_child([] { return process_id() == ::getpid(); });
  }));
  CHECK(process_id() == ::getpid());
}

}  // namespace

}  // namespace custodian::tests::process_id_test
