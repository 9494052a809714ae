// The hexadecimal digits of the uuid in a contender's name.

#include "ordering/contender_order.hpp"
#include "support/catch.hpp"

namespace custodian::tests::protection_digits_test {
namespace {

using namespace recipes_detail;

TEST_CASE("a protection id may have every hexadecimal digit, and no other character",
          "[contender_order]") {
  for (const std::string id :
       {"0123456789abcdef0123456789ABCDEF", "01234567-89ab-cdef-0123-456789ABCDEF",
        "0123456789ABCDEF9999999999999999", "ffffffff-FFFF-aaaa-AAAA-000000000000"}) {
    CHECK(protection_id_of("_c_" + id + "-lock-0000000001") == id);
  }
  for (const char other : {'/', ':', '@', 'G', '`', 'g'}) {
    std::string id(32, 'a');
    id[20] = other;
    CHECK_FALSE(protection_id_of("_c_" + id + "-lock-0000000001"));
  }
}

}  // namespace
}  // namespace custodian::tests::protection_digits_test
