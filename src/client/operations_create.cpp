/// \file
/// start_create() creates a node; if the reply is lost, it finds out whether the node was created.
///
/// A create whose reply is lost may have been applied, and a server that lags behind can list
/// without the node, so that a listing alone proves nothing. A write that a quorum decided, on the
/// same connection before the listing, makes the listing a proof.
///
/// 1. Send the create; if parents are missing, create them and send it again.
/// 2. If the reply is lost and the node is protected, send it again with the same uuid: this is the
///    write.
/// 3. List the parent on the same connection. Of the nodes with the uuid, the lowest that is not
///    left from an earlier session is kept, and the others are deleted. Without a proof, pause and
///    go on with 2. If the node gets no sequence number, there can only be one such node: it is
///    looked up by its path, since an ACL may forbid the listing.
/// 4. For a caller that has given up, a transaction that changes nothing takes the place of the
///    repeated create, and all nodes with the uuid are deleted in the background.

#include <algorithm>

#include "base/paths.hpp"
#include "client/acl_failure.hpp"
#include "client/client_core.hpp"
#include "client/operation.hpp"
#include "client/protected_nodes.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/owned_node.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/authoring/uuid.hpp"
#include "observe/observation.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

bool given_up(const error_code& error) {
  return error == asio::error::operation_aborted || error == Errc::deadline_exceeded ||
         error == Errc::deadline_exceeded_outcome_unknown;
}

struct Create;
using CreatePtr = std::shared_ptr<Create>;
asio::awaitable<void> abandon(CreatePtr job);

struct Create : std::enable_shared_from_this<Create> {
  CorePtr core;
  request::Create request;
  Plan plan;
  CancellationPtr cancellation;
  std::string protection;  ///< `_c_<uuid>-`; empty if not protected
  bool makes_parents = false;
  /// A reply was lost: there may be a node without an owner.
  bool in_doubt = false;
  const LateCreates::Clock::time_point began = LateCreates::Clock::now();
  int attempts = 1;
  Handler<Created> handler;

  asio::awaitable<Reply> look(Request what) {
    return reply_to(core, std::move(what), plan, cancellation);
  }

  asio::awaitable<Reply> create() {
    ++attempts;
    Request what = request;
    ReplyHandler late = clean_up();
    Reply reply = co_await reply_to(core, std::move(what), plan, cancellation, std::move(late));
    note(reply);
    co_return reply;
  }

  /// Whether a node with this stat, and this create's protection, may be kept: an ephemeral node
  /// must be of the present session.
  [[nodiscard]] bool is_ours(const Stat& stat) const {
    return !is_ephemeral(request.mode) || stat.ephemeral_owner == core->own_session_info().id;
  }

  /// Whether a node with this protection may exist although the last create has failed: its outcome
  /// is unknown, or an earlier create, whose reply was lost, was applied once the parents existed.
  [[nodiscard]] bool may_be_there(const error_code& error) const {
    const bool is_late = in_doubt && error == ServerErrc::node_exists;
    return !protection.empty() && (is_late || error == ErrorCondition::outcome_unknown);
  }

  /// Records whether the reply was lost. A reply is not lost if the caller's own deadline or
  /// cancellation came first: clean_up() handles it when it comes.
  void note(const Reply& reply) {
    in_doubt =
        in_doubt || (reply.error == ErrorCondition::outcome_unknown && !given_up(reply.error));
  }

  void tell_retried(const error_code& error, std::chrono::milliseconds pause) const {
    if (Observation* const observation = core->observation()) {
      observation->tell_retried("create", request.path, error, attempts, pause);
    }
  }

  /// Handles a reply that comes after the caller has given up: the node is deleted.
  ReplyHandler clean_up() {
    if (protection.empty()) return {};
    return [self = shared_from_this()](const Reply& reply) {
      if (!reply.error) {
        self->core->deletes().add(reply.path, reply.stat.ephemeral_owner);
      } else if (reply.error == ErrorCondition::outcome_unknown) {
        self->begin_abandon();
      }
    };
  }

  void begin_abandon() {
    spawn(core, "deleting a node that may be left", abandon(shared_from_this()));
  }

  /// The create is settled, or given up: any node but `kept` with this protection that appears from
  /// now on is late.
  void remember_doubt(std::optional<std::string> kept) const {
    core->late_creates().remember(std::string{parent_of(request.path)}, protection, std::move(kept),
                                  began);
  }
};

Acl acl_for(const ClientCore& core, std::string_view path) {
  const AclProvider& provider = core.options().acl_provider;
  return provider ? provider(core.path_for_options(path)) : open_acl();
}

/// The ACL of a parent, whose path is the server's. For a parent outside the client's own
/// namespace, the provider gets "/" if the create came through that namespace, otherwise the path
/// on the server.
Acl acl_for_parent(const ClientCore& core, const std::string& full_path) {
  const AclProvider& provider = core.options().acl_provider;
  if (!provider) return open_acl();
  const bool is_own = &core == &core.own();
  return provider(core.own().prefix().strip(full_path).value_or(is_own ? "/" : full_path));
}

/// Creates the missing nodes above a path, from the top down.
asio::awaitable<Reply> create_parents(CreatePtr job, std::string path) {
  const std::string parent{parent_of(path)};
  Reply reply;
  request::Create container{.path = parent, .data = {}, .mode = CreateMode::container, .acl = {}};
  try {
    container.acl = acl_for_parent(*job->core, parent);
  } catch (...) {
    log_acl_failure(*job->core, parent);
    reply.error = Errc::invalid_argument;
    co_return reply;
  }
  for (;;) {
    Request create = container;
    reply = co_await job->look(std::move(create));
    if (!reply.error || reply.error == ServerErrc::node_exists) {
      reply.error.clear();
      co_return reply;
    }
    // An unknown outcome of an idempotent create needs no recovery: try again.
    if (reply.error == ErrorCondition::outcome_unknown && !given_up(reply.error)) continue;
    if (reply.error != ServerErrc::no_node || parent == "/") co_return reply;
    Reply above = co_await create_parents(job, parent);
    if (above.error) co_return above;
  }
}

/// The result of look_at(): the nodes that bear the protection, up to the first that could not be
/// read.
struct Looks {
  std::vector<SeenNode> nodes;
  error_code given_up{};  ///< set if the caller has given up meanwhile
};

/// Reads each node, up to the first that cannot be read.
asio::awaitable<Looks> look_at(CreatePtr job, std::vector<std::string> paths) {
  Looks looks;
  for (std::string& path : paths) {
    Request look = request::Exists{path, nullptr};
    Reply found = co_await job->look(std::move(look));
    if (given_up(found.error)) {
      looks.given_up = found.error;
      break;
    }
    const bool seen = !found.error || found.error == ServerErrc::no_node;
    const bool ours = job->is_ours(found.stat);
    looks.nodes.push_back({std::move(path), std::move(found), ours});
    if (!seen) break;
  }
  co_return looks;
}

/// Finds the caller's node after a quorum has decided the create on this connection, and deletes
/// the surplus nodes. Returns `connection_loss` if it is not certain which node that is: then the
/// create must be repeated.
asio::awaitable<Reply> find_created(CreatePtr job, std::uint64_t connection) {
  Reply unknown;
  unknown.error = ServerErrc::connection_loss;
  std::vector<std::string> paths{job->request.path};
  if (is_sequential(job->request.mode)) {
    const std::string parent{parent_of(job->request.path)};
    Request list = request::GetChildren{parent, nullptr};
    const Reply listing = co_await job->look(std::move(list));
    if (given_up(listing.error)) unknown.error = listing.error;
    if (listing.error || listing.stamp.connection != connection) co_return unknown;
    paths = protected_nodes(listing.children, parent, job->protection);
  }
  Looks looks = co_await look_at(job, std::move(paths));
  if (looks.given_up) {
    unknown.error = looks.given_up;
    co_return unknown;
  }
  ProtectedChoice choice = choose(std::move(looks.nodes));
  for (SeenNode& each : choice.surplus) {
    job->core->deletes().add(std::move(each.path), each.look.stat.ephemeral_owner);
  }
  if (!choice.kept) co_return unknown;
  Reply kept = std::move(choice.kept->look);
  kept.path = std::move(choice.kept->path);
  co_return kept;
}

/// Settles a create whose reply was lost. Returns the one node that the caller has created, or an
/// error: the caller or the retry policy has given up, or the repeated create has failed.
asio::awaitable<Reply> recover(CreatePtr job) {
  for (int retries = 0;; ++retries) {
    Reply again = co_await job->create();
    const bool decided = !again.error || again.error == ServerErrc::node_exists;
    if (!decided && again.error != ErrorCondition::outcome_unknown) co_return again;
    if (given_up(again.error)) co_return again;
    if (decided) {
      Reply found = co_await find_created(job, again.stamp.connection);
      if (found.error != ServerErrc::connection_loss) co_return found;
    }
    const auto elapsed =
        std::chrono::floor<std::chrono::milliseconds>(LateCreates::Clock::now() - job->began);
    const auto wait = job->plan.retry.pause_before({retries, elapsed, job->core->random()});
    again.error = ServerErrc::connection_loss;
    if (!wait) co_return again;
    job->tell_retried(again.error, *wait);
    co_await pause(job->core, *wait, job->plan.deadline, job->cancellation);
  }
}

/// Deletes, in the background, a node that is not wanted any more, if it exists.
asio::awaitable<void> clean_up_after(CorePtr core, request::Create create, std::string protection) {
  const std::string parent{parent_of(create.path)};
  const std::int64_t session = core->own_session_info().id;
  const Plan plan{Deadline::never(), core->options().retry.unlimited(),
                  Repeat::unless_outcome_unknown};
  for (;;) {
    // A quorum decides this transaction, so a listing behind it shows the create if it was applied.
    Request fence = request::Multi{{transaction::Check{"/", any_version}}};
    const Reply fenced = co_await reply_to(core, std::move(fence), plan, nullptr);
    if (fenced.error == Errc::closed) co_return;
    // The next attempt waits for a connection.
    if (fenced.error == ServerErrc::connection_loss) continue;
    if (fenced.stamp.quorum_result && !is_sequential(create.mode)) {
      // There can only be one node, at this path: an ACL may forbid the listing, but not this look.
      Request look = request::Exists{create.path, nullptr};
      const Reply found = co_await reply_to(core, std::move(look), plan, nullptr);
      if (found.error == Errc::closed) co_return;
      if (found.error == ServerErrc::connection_loss) continue;
      const bool is_there = !found.error;
      if (is_there) core->deletes().add(create.path, is_ephemeral(create.mode) ? session : 0);
      if (is_there || found.stamp.connection == fenced.stamp.connection) co_return;
    } else if (fenced.stamp.quorum_result) {
      Request list = request::GetChildren{parent, nullptr};
      const Reply listing = co_await reply_to(core, std::move(list), plan, nullptr);
      if (listing.error == Errc::closed || listing.error == ServerErrc::no_node) co_return;
      if (listing.error == ServerErrc::connection_loss) continue;
      if (listing.error == ServerErrc::no_auth) {
        // An ACL forbids the listing, so the node cannot be found. Only the end of the session
        // removes it, if it is ephemeral.
        core->log(LogLevel::error, "cannot list " + parent + " to delete a node that may be left");
        if (is_ephemeral(create.mode)) core->sessions().end(session);
        co_return;
      }
      if (!listing.error && listing.stamp.connection == fenced.stamp.connection) {
        for (std::string& path : protected_nodes(listing.children, parent, protection)) {
          core->deletes().add(std::move(path), is_ephemeral(create.mode) ? session : 0);
        }
        co_return;
      }
    }
    // In rare cases, the two answers come on different connections, or have errors that a server
    // should not give. The pause is short, because it keeps the client alive.
    constexpr std::chrono::milliseconds wait{100};
    co_await pause(core, wait, plan.deadline, nullptr);
  }
}

/// Deletes the nodes of a create whose caller has given up: those that exist now, and late ones.
asio::awaitable<void> abandon(CreatePtr job) {
  co_await clean_up_after(job->core, job->request, job->protection);
  job->remember_doubt(std::nullopt);
}

/// Completes a create whose first attempt failed: creates missing parents, and settles a lost
/// reply.
asio::awaitable<void> settle(CreatePtr job, Reply reply) {
  for (;;) {
    if (reply.error == ServerErrc::no_node && job->makes_parents) {
      Reply parents = co_await create_parents(job, job->request.path);
      if (parents.error) {
        reply = std::move(parents);
      } else {
        reply = co_await job->create();
      }
    } else if (job->may_be_there(reply.error) && !given_up(reply.error)) {
      job->tell_retried(reply.error, std::chrono::milliseconds{0});
      reply = co_await recover(job);
      if (reply.error == ErrorCondition::outcome_unknown) break;
    } else {
      break;
    }
  }
  if (job->in_doubt && !job->protection.empty()) {
    if (reply.error) {
      job->begin_abandon();
    } else {
      job->remember_doubt(std::string{name_of(reply.path)});
    }
  }
  const auto path = job->core->prefix().strip(reply.path);
  std::move(job->handler)(reply.error, Created{path.value_or(reply.path), reply.stat});
}

}  // namespace

}  // namespace custodian::detail

namespace custodian {

// The operation is public, in namespace custodian; its helpers are in custodian::detail.
using namespace detail;

void start_create(CorePtr core, CancellationPtr cancellation, std::string path, std::string data,
                  CreateOptions options, Handler<Created> handler) {
  Acl acl;
  try {
    acl = options.acl ? std::move(*options.acl) : acl_for(*core, path);
  } catch (...) {
    log_acl_failure(*core, path);
    return std::move(handler)(make_error_code(Errc::invalid_argument), Created{});
  }
  const auto job = std::make_shared<Create>();
  job->core = core;
  job->plan = make_plan(*core, options.deadline, options.retry, Repeat::unless_outcome_unknown);
  job->cancellation = cancellation;
  if (options.protection == Protection::by_unique_name) {
    job->protection = "_c_" + make_uuid() + "-";
  }
  const PathKind kind = is_sequential(options.mode) ? PathKind::sequential_prefix : PathKind::plain;
  const std::string users_path =
      join(parent_of(path), job->protection + std::string{name_of(path)});
  job->request = {.path = core->prefix().add(users_path, kind),
                  .data = std::move(data),
                  .mode = options.mode,
                  .acl = std::move(acl),
                  .ttl = options.ttl};
  // The namespace is not created in advance: a create directly below it creates it as a parent.
  job->makes_parents = options.parents == Parents::created_as_containers ||
                       (parent_of(path) == "/" && core->prefix() != PathPrefix{});
  job->handler.swap(handler);

  perform(
      core, job->request, job->plan, cancellation,
      [job](Reply reply) {
        if (!reply.error) {
          const auto created = job->core->prefix().strip(reply.path);
          return std::move(job->handler)(error_code{},
                                         Created{created.value_or(reply.path), reply.stat});
        }
        job->note(reply);
        spawn(job->core, "a create", settle(job, std::move(reply)), [job](error_code error) {
          if (!job->handler) return;  // settle() has called it
          if (!job->protection.empty()) job->begin_abandon();
          std::move(job->handler)(error, Created{});
        });
      },
      job->clean_up());
}

}  // namespace custodian
