#include "base/runs_on_this_thread.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

namespace custodian::detail {

namespace asio = boost::asio;

namespace {

/// Whether the executor is of this type, or a strand of one, and this thread runs its context.
template <typename Executor>
bool runs_on_this_thread_as(const asio::any_io_executor& executor) {
  if (const auto* plain = executor.target<Executor>()) return plain->running_in_this_thread();
  const auto* strand = executor.target<asio::strand<Executor>>();
  return strand != nullptr && strand->get_inner_executor().running_in_this_thread();
}

}  // namespace

bool runs_on_this_thread(const asio::any_io_executor& executor) {
  if (const auto* strand = executor.target<asio::strand<asio::any_io_executor>>()) {
    return strand->running_in_this_thread() || runs_on_this_thread(strand->get_inner_executor());
  }
  return runs_on_this_thread_as<asio::io_context::executor_type>(executor) ||
         runs_on_this_thread_as<asio::thread_pool::executor_type>(executor);
}

}  // namespace custodian::detail
