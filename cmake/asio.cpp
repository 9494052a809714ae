// The one compiled copy of Asio; see CustodianAsio.cmake.
#include <boost/asio/impl/src.hpp>
