#include "support/catch.hpp"
#include "support/results.hpp"

namespace custodian::tests::without_sqlite_test {

TEST_CASE("three instances run 200 jobs, and each has one result, whatever becomes of the leader") {
  CUSTODIAN_SKIP("needs SQLite and CLI11: libsqlite3-dev, libcli11-dev");
}

}  // namespace custodian::tests::without_sqlite_test
