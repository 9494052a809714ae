#include "custodian/version.hpp"

#include <algorithm>

#include "support/catch.hpp"

namespace custodian::tests::version_test {

TEST_CASE("the version has three numbers", "[version]") {
  const auto version = custodian::version();
  CHECK(version.find_first_not_of("0123456789.") == version.npos);
  CHECK(std::count(version.begin(), version.end(), '.') == 2);
}

}  // namespace custodian::tests::version_test
