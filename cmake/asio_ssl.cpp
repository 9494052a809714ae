// The one compiled copy of Asio's part for TLS; see CustodianAsio.cmake.
#include <boost/asio/ssl/impl/src.hpp>
