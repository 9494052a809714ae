#pragma once

#include <boost/asio/any_io_executor.hpp>

namespace custodian::detail {

/// Whether this thread runs the context behind an executor, as far as executors can tell.
[[nodiscard]] bool is_run_here(const boost::asio::any_io_executor& executor);

}  // namespace custodian::detail
