#pragma once

/// \file
/// watch_queue() shows a queue as it changes.

#include <cstdint>
#include <optional>
#include <string>

#include "custodian/inspect/inspect.hpp"
#include "options/global_options.hpp"
#include "queue/queue_view.hpp"
#include "servers/session_addresses.hpp"

namespace custodian::cli {

struct InspectRequest {
  std::string path{};
  bool watch = false;
  bool json = false;
  bool without_addresses = false;
  std::optional<std::uint16_t> admin_port{};  ///< of the admin servers, if the user has given one
  InspectOptions options{};
};

/// Makes the view of a new inspection, with the clients' addresses if the request wants them.
[[nodiscard]] QueueView view_of(const InspectRequest& request, Inspection inspection,
                                SessionAddresses* addresses);

/// Shows the queue until SIGINT or SIGTERM: on a terminal as a picture that is redrawn, otherwise
/// as a block of text or a line of JSON for each change. Shows a disconnection, and goes on.
/// Returns the exit status. Throws Error if the client may not read the queue, or if no server
/// answers at the beginning.
[[nodiscard]] int watch_queue(const GlobalOptions& options, const InspectRequest& request);

}  // namespace custodian::cli
