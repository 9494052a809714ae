#pragma once

/// \file
/// watch_queue() shows a queue as it changes.

#include <cstdint>
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
  std::uint16_t admin_port = 8080;
  InspectOptions options{};
};

/// What was just read, with the clients' addresses, if they are wanted.
[[nodiscard]] QueueView view_of(const InspectRequest& request, Inspection inspection,
                                SessionAddresses* addresses);

/// Shows the queue until SIGINT or SIGTERM: on a terminal as a picture that is drawn again,
/// otherwise as a block for each change, or a line of JSON. Goes on through disconnections, and
/// says so. Returns the exit status; throws Error if it may not read, or if no server answers at
/// the beginning.
[[nodiscard]] int watch_queue(const GlobalOptions& options, const InspectRequest& request);

}  // namespace custodian::cli
