#pragma once

#include <boost/asio/any_io_executor.hpp>

namespace custodian::detail {

/// Whether this thread runs the context behind `executor`. Recognises the executors of `io_context`
/// and `thread_pool`, and strands; false for any other.
[[nodiscard]] bool runs_on_this_thread(const boost::asio::any_io_executor& executor);

}  // namespace custodian::detail
