#include "base/process_id.hpp"

#include <unistd.h>

#include "support/catch.hpp"
#include "support/in_child.hpp"

namespace custodian::tests::process_id_test {

namespace {

using custodian::detail::process_id;

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
