#include "custodian/authoring/thrown.hpp"

#include <new>
#include <stdexcept>

#include "support/catch.hpp"

namespace custodian::tests::thrown_test {
namespace {

template <typename Exception>
Thrown described(Exception exception) {
  try {
    throw exception;
  } catch (...) {
    return thrown_now();
  }
}

TEST_CASE("an exception of user code becomes an error code and a text") {
  namespace errc = boost::system::errc;
  const auto [code, text] = described(boost::system::system_error{Errc::closed, "while waiting"});
  CHECK(code == Errc::closed);
  CHECK(text.find("while waiting") == 0);

  CHECK(described(std::bad_alloc{}).error == errc::not_enough_memory);

  const Thrown other = described(std::runtime_error{"no disk"});
  CHECK(other.error == errc::state_not_recoverable);
  CHECK(other.text == "no disk");

  const Thrown number = described(42);
  CHECK(number.error == errc::state_not_recoverable);
  CHECK(number.text == "something that is no std::exception");
}

}  // namespace
}  // namespace custodian::tests::thrown_test
