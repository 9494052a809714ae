/// \file
/// These checks refuse wrong arguments before anything is sent, and name the argument and the rule.

#include "client/argument_checks.hpp"

#include <algorithm>

#include "base/encoded_size.hpp"
#include "client/client_core.hpp"
#include "custodian/authoring/argument_checks.hpp"
#include "custodian/lease/revocation.hpp"

namespace custodian {

// The checks are public, in namespace custodian; their helpers are in custodian::detail.
using namespace detail;

namespace {

/// The size of `_c_<uuid>-`.
constexpr std::size_t protection_size = 3 + 36 + 1;

[[noreturn]] void refuse(std::string_view operation, std::string_view path,
                         std::string_view detail) {
  throw Error{Errc::invalid_argument, operation, path, detail};
}

struct Argument {
  std::string_view name{};
  std::size_t size = 0;
};

/// Refuses a request of this size if it exceeds the limit; the message blames this argument.
void check_size(std::size_t limit, std::string_view operation, std::string_view path,
                std::size_t request_size, Argument culprit) {
  if (request_size <= limit) return;
  refuse(operation, path,
         std::string{culprit.name} + ": " + std::to_string(culprit.size) +
             " bytes are more than the servers accept (" + std::to_string(limit) +
             " bytes a request; raise their jute.maxbuffer and "
             "ClientOptions::max_request_size, or use less)");
}

/// Refuses a request that is too large. The message blames the path, or the data if the path alone
/// would fit.
void check_size(const detail::ClientCore& core, std::string_view operation, std::string_view path,
                const Request& without_data, Argument data) {
  const std::size_t limit = core.options().max_request_size;
  const std::size_t size = detail::encoded_size(without_data);
  check_size(limit, operation, path, size, {"path", path.size()});
  check_size(limit, operation, path, size + data.size, data);
}

void check_ttl(std::string_view operation, std::string_view path, CreateMode mode,
               std::chrono::milliseconds ttl) {
  using namespace std::chrono_literals;
  // The limit of the servers: EphemeralType.TTL.maxValue().
  constexpr std::chrono::milliseconds longest{(std::int64_t{1} << 40) - 1};
  if (has_ttl(mode) && (ttl < 1ms || ttl > longest)) {
    refuse(operation, path, "ttl: a node with a TTL needs one between 1 ms and 2^40 - 1 ms");
  }
  if (!has_ttl(mode) && ttl != 0ms) {
    refuse(operation, path, "ttl: only the modes with a TTL take one");
  }
}

}  // namespace

void detail::check_credentials(std::string_view operation,
                               const std::vector<ClientOptions::Credential>& credentials,
                               std::size_t max_request_size) {
  for (const auto& [scheme, value] : credentials) {
    if (scheme.empty()) refuse(operation, "", "credentials: a scheme is empty");
    if (scheme == "digest" && value.find(':') == std::string::npos) {
      refuse(operation, "", "credentials: a digest reads user:password");
    }
    check_size(max_request_size, operation, "", encoded_size({scheme, value}),
               {"credentials", scheme.size() + value.size()});
  }
}

void check_path(const CorePtr& core, std::string_view operation, std::string_view path) {
  validate_path(operation, path);
  check_size(*core, operation, path, request::Exists{core->prefix().add(path)}, {});
}

void check_contender(const CorePtr& core, std::string_view operation, std::string_view path,
                     std::string_view name, std::string_view identity) {
  check_path(core, operation, path);
  if (identity == revoke_message) {
    refuse(operation, path,
           "identity: this is the message by which somebody asks for the lock (revocation.hpp)");
  }
  std::string node = core->prefix().add(join(path, std::string(protection_size, '_')));
  node.append(name).append(sequence_digits, '0');
  // A contender's largest request names two nodes: a downgrade creates one and checks another; a
  // hand-over checks the next contender's node and deletes its own.
  request::Create create{.path = node, .acl = open_acl()};
  const request::Multi both{{transaction::Check{std::move(node)}, std::move(create)}};
  check_size(*core, operation, path, both, {"identity", identity.size()});
}

namespace {

void check_create_as(std::string_view operation, const CorePtr& core, std::string_view path,
                     std::string_view data, const CreateOptions& options) {
  validate_path(operation, path,
                is_sequential(options.mode) ? PathKind::sequential_prefix : PathKind::plain);
  if (path == "/" && !is_sequential(options.mode)) {
    refuse(operation, path, "path: the root exists already");
  }
  if (options.acl && options.acl->empty()) refuse(operation, path, "acl: it has no entry");
  check_ttl(operation, path, options.mode, options.ttl);
  std::string full_path = core->prefix().add(path, PathKind::sequential_prefix);
  // The protection and the sequence number make the path longer.
  if (options.protection == Protection::by_unique_name) full_path.append(protection_size, '_');
  if (is_sequential(options.mode)) full_path.append(sequence_digits, '0');
  const request::Create create{
      .path = std::move(full_path), .mode = options.mode, .acl = options.acl.value_or(open_acl())};
  check_size(*core, operation, path, create, {"data", data.size()});
}

}  // namespace

void check_create(const CorePtr& core, std::string_view path, std::string_view data,
                  const CreateOptions& options) {
  check_create_as("create", core, path, data, options);
}

void check_upsert(const CorePtr& core, std::string_view path, std::string_view data,
                  const UpsertOptions& options) {
  if (is_sequential(options.mode) || is_ephemeral(options.mode)) {
    refuse("upsert", path, "mode: a node that is written again is neither numbered nor ephemeral");
  }
  check_create_as("upsert", core, path, data,
                  {.mode = options.mode, .acl = options.acl, .ttl = options.ttl});
}

void check_set(const CorePtr& core, std::string_view path, std::string_view data) {
  validate_path("set", path);
  const request::Set set{core->prefix().add(path)};
  check_size(*core, "set", path, set, {"data", data.size()});
}

void detail::check_written_twice(const ClientCore& core, std::string_view operation,
                                 std::string_view path, std::string_view data) {
  const request::Set set{core.prefix().add(path)};
  check_size(core, operation, path, request::Multi{{set, set}}, {"identity", 2 * data.size()});
}

void check_remove(const CorePtr& core, std::string_view path, const RemoveOptions& options) {
  validate_path("remove", path);
  check_size(*core, "remove", path, request::Remove{core->prefix().add(path)}, {});
  if (path == "/") refuse("remove", path, "path: the root cannot be removed");
  if (options.descendants == Descendants::are_removed && options.version != any_version) {
    refuse("remove", path, "version: a tree is removed whatever its version is");
  }
}

void check_commit(const CorePtr& core, const Transaction& transaction) {
  if (transaction.empty()) refuse("commit", "", "transaction: it has no operation");
  request::Multi without_data;
  std::size_t data_size = 0;
  for (const auto& each : transaction) {
    std::visit(
        [&](const auto& operation) {
          if constexpr (requires { operation.data; }) data_size += operation.data.size();
          if constexpr (requires { operation.mode; }) {
            if (has_ttl(operation.mode) || operation.mode == CreateMode::container) {
              refuse("commit", operation.path,
                     "mode: the C client cannot create containers or nodes with a TTL in a "
                     "transaction");
            }
            const PathKind kind =
                is_sequential(operation.mode) ? PathKind::sequential_prefix : PathKind::plain;
            validate_path("commit", operation.path, kind);
            without_data.operations.emplace_back(
                request::Create{.path = core->prefix().add(operation.path, kind),
                                .acl = operation.acl.value_or(open_acl())});
          } else {
            validate_path("commit", operation.path);
            std::string path = core->prefix().add(operation.path);
            using T = std::decay_t<decltype(operation)>;
            if constexpr (std::is_same_v<T, transaction::Set>) {
              without_data.operations.emplace_back(request::Set{std::move(path)});
            } else {
              // A removal is as large as a check.
              without_data.operations.emplace_back(transaction::Check{std::move(path)});
            }
          }
        },
        each);
  }
  const std::size_t size = encoded_size(without_data) + data_size;
  check_size(core->options().max_request_size, "commit", "", size, {"transaction", size});
}

}  // namespace custodian
