#include "custodian/authoring/thrown.hpp"

#include <exception>
#include <new>

namespace custodian {

Thrown thrown_now() {
  namespace errc = boost::system::errc;
  try {
    throw;
  } catch (const boost::system::system_error& exception) {
    return {exception.code(), exception.what()};
  } catch (const std::bad_alloc&) {
    return {make_error_code(errc::not_enough_memory), "out of memory"};
  } catch (const std::exception& exception) {
    return {make_error_code(errc::state_not_recoverable), exception.what()};
  } catch (...) {
    return {make_error_code(errc::state_not_recoverable), "something that is no std::exception"};
  }
}

}  // namespace custodian
