#pragma once

#include <boost/asio/any_io_executor.hpp>

namespace custodian::detail {

/// runs_on_this_thread() says whether this thread runs the context behind an executor, as far as
/// executors show it.
[[nodiscard]] bool runs_on_this_thread(const boost::asio::any_io_executor& executor);

}  // namespace custodian::detail
