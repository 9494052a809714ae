#include "custodian/authoring/bridge.hpp"

#include <utility>

#include "base/printable.hpp"
#include "client/client_core.hpp"

namespace custodian {

void Cancellation::request() {
  const auto core = core_.lock();
  if (!core || core->forked()) return;
  core->on_strand([self = shared_from_this()] {
    if (std::exchange(self->requested_, true)) return;
    // No iterator is kept, since an action may call forget().
    while (!self->actions_.empty()) {
      const auto node = self->actions_.extract(self->actions_.begin());
      node.mapped()();
    }
  });
}

void Cancellation::on_request(const void* key, std::function<void()> action) {
  if (!requested_) actions_.insert_or_assign(key, std::move(action));
}

void Cancellation::forget(const void* key) { actions_.erase(key); }

namespace detail {

std::uint64_t connection_number(const ClientCore& core) {
  return core.own_session_info().connection;
}

boost::asio::any_io_executor callback_executor(const ClientCore& core) {
  return core.callback_executor();
}

boost::asio::any_io_executor strand_of(const ClientCore& core) { return core.strand(); }

void require_may_block(const ClientCore& core, std::string_view operation, std::string_view path) {
  if (core.forked()) throw Error{Errc::forked, operation, path};
  if (core.is_own_thread()) {
    throw Error{Errc::would_deadlock, operation, path,
                "a blocking call on a thread that runs the client; use the async_ form"};
  }
}

Deadline deadline_or_default(const ClientCore& core, Deadline deadline) {
  return deadline.or_default(core.options().operation_timeout);
}

void throw_unended(Errc unended, std::string_view operation, std::string_view path) {
  throw Error{unended, operation, path,
              "no thread runs the client's context, or those that do are busy"};
}

}  // namespace detail

void throw_if(const detail::ClientCore& core, error_code error, std::string_view operation,
              std::string_view path, std::string_view why) {
  if (!error) return;
  const bool found_nobody = error == Errc::not_connected || error == Errc::deadline_exceeded;
  if (found_nobody && why.empty() && !is_connected(core.connection_state())) {
    throw Error{error, operation, path, "no connection to " + detail::printable(core.servers())};
  }
  if (error == Errc::deadline_exceeded && why.empty()) {
    throw Error{error, operation, path, "connected, but the answer did not come in time"};
  }
  throw Error{error, operation, path, why};
}

}  // namespace custodian
