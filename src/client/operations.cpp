/// \file
/// The compiled functions behind the client's templates: which request an operation sends, whether
/// it may be repeated, and which part of the reply its caller gets.

#include "custodian/authoring/operations.hpp"

#include "client/acl_failure.hpp"
#include "client/client_core.hpp"
#include "client/client_watcher.hpp"
#include "client/operation.hpp"
#include "custodian/authoring/spawn.hpp"

namespace custodian {

// The operations are public, in namespace custodian; their helpers are in custodian::detail.
using namespace detail;

namespace asio = boost::asio;

namespace {

/// Sends a request and hands part of its reply to the caller.
template <typename... Results, typename Project>
void run(const CorePtr& core, CancellationPtr cancellation, Request request, Plan plan,
         Handler<Results...> handler, Project project) {
  perform(core, std::move(request), plan, std::move(cancellation),
          [handler = std::move(handler), project](Reply reply) mutable {
            const error_code error = reply.error;
            std::apply([&](auto... results) { std::move(handler)(error, std::move(results)...); },
                       project(std::move(reply)));
          });
}

Plan plan_of(const CorePtr& core, const auto& options, Repeat repeat) {
  return make_plan(*core, options.deadline, options.retry, repeat);
}

std::tuple<> nothing(Reply) { return {}; }

/// A missing node is an answer and no error.
std::optional<Stat> existence(Reply& reply) {
  return reply.error ? std::nullopt : std::optional{reply.stat};
}

/// Wraps a handler so that it gets no error for a missing node.
template <typename... Results>
Handler<Results...> unless_missing(Handler<Results...> handler) {
  return [handler = std::move(handler)](error_code error, Results... results) mutable {
    if (error == ServerErrc::no_node) error.clear();
    std::move(handler)(error, std::move(results)...);
  };
}

}  // namespace

void start_get(CorePtr core, CancellationPtr cancellation, std::string path,
               OperationOptions options, Handler<GetResult> handler) {
  run(core, std::move(cancellation), request::Get{core->prefix().add(path), nullptr},
      plan_of(core, options, Repeat::always), std::move(handler), [](Reply reply) {
        return std::tuple{GetResult{std::move(reply.data), reply.stat}};
      });
}

void start_set(CorePtr core, CancellationPtr cancellation, std::string path, std::string data,
               SetOptions options, Handler<Stat> handler) {
  run(core, std::move(cancellation),
      request::Set{core->prefix().add(path), std::move(data), options.version},
      plan_of(core, options, Repeat::unless_outcome_unknown), std::move(handler),
      [](const Reply& reply) { return std::tuple{reply.stat}; });
}

void start_exists(CorePtr core, CancellationPtr cancellation, std::string path,
                  OperationOptions options, Handler<std::optional<Stat>> handler) {
  run(core, std::move(cancellation), request::Exists{core->prefix().add(path), nullptr},
      plan_of(core, options, Repeat::always), unless_missing(std::move(handler)),
      [](Reply reply) { return std::tuple{existence(reply)}; });
}

void start_children(CorePtr core, CancellationPtr cancellation, std::string path,
                    OperationOptions options, Handler<Children> handler) {
  run(core, std::move(cancellation), request::GetChildren{core->prefix().add(path), nullptr},
      plan_of(core, options, Repeat::always), std::move(handler), [](Reply reply) {
        return std::tuple{Children{std::move(reply.children), reply.stat}};
      });
}

void start_get_acl(CorePtr core, CancellationPtr cancellation, std::string path,
                   OperationOptions options, Handler<Acl> handler) {
  run(core, std::move(cancellation), request::GetAcl{core->prefix().add(path)},
      plan_of(core, options, Repeat::always), std::move(handler),
      [](Reply reply) { return std::tuple{std::move(reply.acl)}; });
}

void start_set_acl(CorePtr core, CancellationPtr cancellation, std::string path, Acl acl,
                   SetOptions options, Handler<> handler) {
  run(core, std::move(cancellation),
      request::SetAcl{core->prefix().add(path), std::move(acl), options.version},
      plan_of(core, options, Repeat::unless_outcome_unknown), std::move(handler), &nothing);
}

void start_sync(CorePtr core, CancellationPtr cancellation, std::string path,
                OperationOptions options, Handler<> handler) {
  run(core, std::move(cancellation), request::Sync{core->prefix().add(path)},
      plan_of(core, options, Repeat::always), std::move(handler), &nothing);
}

namespace {

/// Makes the request of a transaction. Throws the exceptions of the ACL provider.
request::Multi multi_of(const ClientCore& core, Transaction transaction) {
  request::Multi multi;
  const PathPrefix& prefix = core.prefix();
  for (TransactionOperation& each : transaction) {
    if (auto* create = std::get_if<transaction::Create>(&each)) {
      const AclProvider& provider = core.options().acl_provider;
      Acl acl = create->acl ? *create->acl
                : provider  ? provider(core.path_for_options(create->path))
                            : open_acl();
      const PathKind kind =
          is_sequential(create->mode) ? PathKind::sequential_prefix : PathKind::plain;
      multi.operations.emplace_back(request::Create{.path = prefix.add(create->path, kind),
                                                    .data = std::move(create->data),
                                                    .mode = create->mode,
                                                    .acl = std::move(acl)});
    } else if (auto* set = std::get_if<transaction::Set>(&each)) {
      multi.operations.emplace_back(
          request::Set{prefix.add(set->path), std::move(set->data), set->version});
    } else if (auto* remove = std::get_if<transaction::Remove>(&each)) {
      multi.operations.emplace_back(request::Remove{prefix.add(remove->path), remove->version});
    } else {
      const auto& check = std::get<transaction::Check>(each);
      multi.operations.emplace_back(transaction::Check{prefix.add(check.path), check.version});
    }
  }
  return multi;
}

}  // namespace

void start_commit(CorePtr core, CancellationPtr cancellation, Transaction transaction,
                  OperationOptions options, Handler<std::vector<TransactionResult>> handler) {
  request::Multi multi;
  try {
    multi = multi_of(*core, std::move(transaction));
  } catch (...) {
    log_acl_failure(*core, "a transaction");
    return std::move(handler)(Errc::invalid_argument, std::vector<TransactionResult>{});
  }
  run(core, std::move(cancellation), std::move(multi),
      plan_of(core, options, Repeat::unless_outcome_unknown), std::move(handler),
      [core](Reply reply) {
        for (TransactionResult& result : reply.results) {
          if (auto users = core->prefix().strip(result.path)) result.path = std::move(*users);
        }
        return std::tuple{std::move(reply.results)};
      });
}

// -- Watches --------------------------------------------------------------------------------------

void start_get_and_watch(CorePtr core, CancellationPtr cancellation, std::string path,
                         OperationOptions options, Handler<GetResult, Watch> handler) {
  const auto watcher = std::make_shared<ClientWatcher>();
  run(core, std::move(cancellation), request::Get{core->prefix().add(path), watcher},
      plan_of(core, options, Repeat::always), std::move(handler), [core, watcher](Reply reply) {
        return std::tuple{GetResult{std::move(reply.data), reply.stat},
                          reply.error ? Watch{} : Watch{core, watcher}};
      });
}

void start_exists_and_watch(CorePtr core, CancellationPtr cancellation, std::string path,
                            OperationOptions options, Handler<std::optional<Stat>, Watch> handler) {
  const auto watcher = std::make_shared<ClientWatcher>();
  run(core, std::move(cancellation), request::Exists{core->prefix().add(path), watcher},
      plan_of(core, options, Repeat::always), unless_missing(std::move(handler)),
      [core, watcher](Reply reply) {
        const bool armed = !reply.error || reply.error == ServerErrc::no_node;
        return std::tuple{existence(reply), armed ? Watch{core, watcher} : Watch{}};
      });
}

void start_children_and_watch(CorePtr core, CancellationPtr cancellation, std::string path,
                              OperationOptions options, Handler<Children, Watch> handler) {
  const auto watcher = std::make_shared<ClientWatcher>();
  run(core, std::move(cancellation), request::GetChildren{core->prefix().add(path), watcher},
      plan_of(core, options, Repeat::always), std::move(handler), [core, watcher](Reply reply) {
        return std::tuple{Children{std::move(reply.children), reply.stat},
                          reply.error ? Watch{} : Watch{core, watcher}};
      });
}

void start_wait_connected(CorePtr core, CancellationPtr cancellation, OperationOptions options,
                          Handler<> handler) {
  // Waits for any answer to a read of a node that always exists.
  run(core, std::move(cancellation), request::Exists{"/", nullptr},
      plan_of(core, options, Repeat::always), std::move(handler), &nothing);
}

void start_wait_connection_state(CorePtr core, CancellationPtr cancellation, ConnectionState known,
                                 Handler<ConnectionState> handler) {
  if (core->forked()) return std::move(handler)(Errc::forked, core->connection_state());
  core->on_strand([core, known, cancellation = std::move(cancellation),
                   handler = std::move(handler)]() mutable {
    core->wait_state(known, cancellation, std::move(handler));
  });
}

// -- Removal --------------------------------------------------------------------------------------

namespace {

struct Removal {
  CorePtr core;
  CancellationPtr cancellation;
  Plan plan;
};

asio::awaitable<error_code> remove_tree(Removal how, std::string path) {
  for (;;) {
    // The deletes of a tree depend on no version, so they may be repeated.
    how.plan.repeat = Repeat::always;
    Request remove = request::Remove{path, any_version};
    Reply reply = co_await reply_to(how.core, std::move(remove), how.plan, how.cancellation);
    if (reply.error != ServerErrc::not_empty) co_return reply.error;
    Request list = request::GetChildren{path, nullptr};
    Reply listing = co_await reply_to(how.core, std::move(list), how.plan, how.cancellation);
    if (listing.error) co_return listing.error;
    for (const std::string& name : listing.children) {
      std::string child = join(path, name);
      const error_code error = co_await remove_tree(how, std::move(child));
      if (error && error != ServerErrc::no_node) co_return error;
    }
  }
}

asio::awaitable<Result<void>> remove_tree_for(Removal how, std::string path, Missing missing) {
  const error_code error = co_await remove_tree(std::move(how), std::move(path));
  const bool is_fine = error == ServerErrc::no_node && missing == Missing::is_fine;
  if (error && !is_fine) co_return error;
  co_return Result<void>{};
}

}  // namespace

void start_remove(CorePtr core, CancellationPtr cancellation, std::string path,
                  RemoveOptions options, Handler<> handler) {
  std::string full = core->prefix().add(path);
  const Plan plan = plan_of(core, options, Repeat::unless_outcome_unknown);
  if (options.descendants == Descendants::are_removed) {
    const Removal how{core, std::move(cancellation), plan};
    return spawn(core, "removing " + path, remove_tree_for(how, std::move(full), options.missing),
                 std::move(handler));
  }
  run(core, std::move(cancellation), request::Remove{std::move(full), options.version}, plan,
      options.missing == Missing::is_fine ? unless_missing(std::move(handler)) : std::move(handler),
      &nothing);
}

CorePtr own_core(const CorePtr& core) { return core->own().shared_from_this(); }

Service& use_service(const CorePtr& core, std::type_index type, const ServiceFactory& make) {
  return core->use_service(type, make);
}

}  // namespace custodian
