/// \file
/// What a caller may not ask for. Refused before anything is sent, naming the argument and the
/// rule.

#include <algorithm>

#include "client_core.hpp"
#include "connection_string.hpp"
#include "custodian/operation_options.hpp"

namespace custodian {

namespace {

[[noreturn]] void refuse(std::string_view operation, std::string_view path,
                         std::string_view detail) {
  throw Error{Errc::invalid_argument, operation, path, detail};
}

/// What the path, the lengths and the headers of a request take beside its data, at the most.
std::size_t overhead(std::string_view path) { return path.size() + 128; }

void check_data(const detail::ClientCore& core, std::string_view operation, std::string_view path,
                std::string_view data) {
  const std::size_t limit = core.options().max_request_size;
  if (data.size() + overhead(path) > limit) {
    refuse(operation, path,
           "data: " + std::to_string(data.size()) + " bytes are more than the servers accept (" +
               std::to_string(limit) +
               " bytes a request; raise their jute.maxbuffer and "
               "ClientOptions::max_request_size, or store less)");
  }
}

void check_ttl(std::string_view path, CreateMode mode, std::chrono::milliseconds ttl) {
  using namespace std::chrono_literals;
  // EphemeralType.TTL.maxValue() of the server.
  constexpr std::chrono::milliseconds longest{(std::int64_t{1} << 40) - 1};
  if (has_ttl(mode) && (ttl < 1ms || ttl > longest)) {
    refuse("create", path, "ttl: a node with a TTL needs one between 1 ms and 2^40 - 1 ms");
  }
  if (!has_ttl(mode) && ttl != 0ms) {
    refuse("create", path, "ttl: only the modes with a TTL take one");
  }
}

void check_timeout(std::string_view argument, std::chrono::milliseconds value,
                   std::chrono::milliseconds least) {
  // The C client takes an int of milliseconds.
  constexpr std::chrono::milliseconds most{std::chrono::hours{24}};
  if (value < least || value > most) {
    refuse("connect", "",
           std::string{argument} + ": " + std::to_string(value.count()) + " ms is not between " +
               std::to_string(least.count()) + " ms and 24 h");
  }
}

}  // namespace

void validate(const ClientOptions& options) {
  using namespace std::chrono_literals;
  static_cast<void>(detail::parse_connection_string("connect", options.servers));
  if (!options.name_space.empty()) {
    const bool absolute = options.name_space.starts_with('/');
    if (const auto fault = detail::path_fault((absolute ? "" : "/") + options.name_space)) {
      refuse("connect", "", "name_space: " + *fault);
    }
  }
  check_timeout("session_timeout", options.session_timeout, 100ms);
  check_timeout("touch_interval", options.touch_interval, 1ms);
  if (options.session_timeout < detail::LeaseClock::least_timeout(options.touch_interval)) {
    refuse(
        "connect", "",
        "session_timeout: " + std::to_string(options.session_timeout.count()) +
            " ms are less than three touch_intervals of " +
            std::to_string(options.touch_interval.count()) +
            " ms, too short to be told of a loss in time; where the servers' tickTime is shorter "
            "than 2 s, touch_interval may be three quarters of that");
  }
  check_timeout("connect_timeout", options.connect_timeout, 1ms);
  check_timeout("operation_timeout", options.operation_timeout, 1ms);
  if (options.max_request_size < 1024) {
    refuse("connect", "", "max_request_size: less than 1024 bytes serve for nothing");
  }
  for (const auto& [scheme, value] : options.credentials) {
    if (scheme.empty()) refuse("connect", "", "credentials: a scheme is empty");
    if (scheme == "digest" && value.find(':') == std::string::npos) {
      refuse("connect", "", "credentials: a digest reads user:password");
    }
  }
}

namespace detail {

void check_path(const CorePtr&, std::string_view operation, std::string_view path) {
  validate_path(operation, path);
}

void check_create(const CorePtr& core, std::string_view path, std::string_view data,
                  const CreateOptions& options) {
  validate_path("create", path,
                is_sequential(options.mode) ? PathKind::sequential_prefix : PathKind::plain);
  if (path == "/" && !is_sequential(options.mode)) {
    refuse("create", path, "path: the root exists already");
  }
  if (options.acl && options.acl->empty()) refuse("create", path, "acl: it has no entry");
  check_data(*core, "create", path, data);
  check_ttl(path, options.mode, options.ttl);
}

void check_set(const CorePtr& core, std::string_view path, std::string_view data) {
  validate_path("set", path);
  check_data(*core, "set", path, data);
}

void check_remove(const CorePtr&, std::string_view path, const RemoveOptions& options) {
  validate_path("remove", path);
  if (path == "/") refuse("remove", path, "path: the root cannot be removed");
  if (options.descendants == Descendants::are_removed && options.version != any_version) {
    refuse("remove", path, "version: a tree is removed whatever its version is");
  }
}

void check_commit(const CorePtr& core, const Transaction& transaction) {
  if (transaction.empty()) refuse("commit", "", "transaction: it has no operation");
  std::size_t size = 0;
  for (const auto& each : transaction) {
    std::visit(
        [&](const auto& operation) {
          size += overhead(operation.path);
          if constexpr (requires { operation.data; }) size += operation.data.size();
          if constexpr (requires { operation.mode; }) {
            if (has_ttl(operation.mode) || operation.mode == CreateMode::container) {
              refuse("commit", operation.path,
                     "mode: the C client cannot create containers or nodes with a TTL in a "
                     "transaction");
            }
            validate_path(
                "commit", operation.path,
                is_sequential(operation.mode) ? PathKind::sequential_prefix : PathKind::plain);
          } else {
            validate_path("commit", operation.path);
          }
        },
        each);
  }
  if (size > core->options().max_request_size) {
    refuse("commit", "", "transaction: larger than a request that the servers accept");
  }
}

}  // namespace detail
}  // namespace custodian
