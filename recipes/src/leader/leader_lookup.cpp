#include "leader/leader_lookup.hpp"

#include <utility>

#include "custodian/leader/candidate.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// Arguments in a co_await expression below are named objects, or trivial: g++ 12 destroys some
// temporaries there twice.

namespace {

/// The candidates, and a watch on who comes, if there is to be one.
struct Candidates {
  error_code error{};
  Listing listing;
  Watch watch{};
};

asio::awaitable<Candidates> list(Client client, CancellationPtr cancellation, std::string path,
                                 NamingRule rule, OperationOptions options, Watching watching) {
  const auto& core = client.core();
  error_code error;
  Children children;
  Watch watch;
  if (watching == Watching::yes) {
    std::tie(error, children, watch) =
        co_await await<&detail::start_children_and_watch, Children, Watch>(core, cancellation, path,
                                                                           options);
  } else {
    std::tie(error, children) =
        co_await await<&detail::start_children, Children>(core, cancellation, path, options);
  }
  co_return Candidates{error, Listing{std::move(children.names), rule}, std::move(watch)};
}

/// Nobody is a strong word, and a server that lags behind is quick with it. Nothing: there is
/// somebody after all.
asio::awaitable<std::optional<LeaderSnapshot>> see_nobody(Client client,
                                                          CancellationPtr cancellation,
                                                          std::string path, NamingRule rule,
                                                          OperationOptions options,
                                                          Watching watching) {
  const auto& core = client.core();
  const auto [unsynced] = co_await await<&detail::start_sync>(core, cancellation, path, options);
  if (unsynced) co_return LeaderSnapshot{.error = unsynced};
  Client another = client.share();
  Candidates now = co_await list(std::move(another), cancellation, path, rule, options, watching);
  if (now.error == ServerErrc::no_node && watching == Watching::yes) {
    auto [error, stat, watch] =
        co_await await<&detail::start_exists_and_watch, std::optional<Stat>, Watch>(
            core, cancellation, path, options);
    if (!error && stat) co_return std::nullopt;
    co_return LeaderSnapshot{.error = error, .watch = std::move(watch)};
  }
  if (now.error == ServerErrc::no_node) co_return LeaderSnapshot{};
  if (!now.error && !now.listing.contenders().empty()) co_return std::nullopt;
  co_return LeaderSnapshot{.error = now.error, .watch = std::move(now.watch)};
}

}  // namespace

asio::awaitable<LeaderSnapshot> find_leader(Client client, CancellationPtr cancellation,
                                            std::string path, NamingRule rule,
                                            OperationOptions options, Watching watching) {
  const auto& core = client.core();
  for (;;) {
    Client for_list = client.share();
    Candidates now =
        co_await list(std::move(for_list), cancellation, path, rule, options, Watching::no);
    if (now.error && now.error != ServerErrc::no_node) co_return LeaderSnapshot{.error = now.error};
    if (!now.listing.malformed().empty())
      co_return LeaderSnapshot{.error = Errc::malformed_contender};
    if (now.listing.contenders().empty()) {
      Client for_nobody = client.share();
      std::optional<LeaderSnapshot> nobody =
          co_await see_nobody(std::move(for_nobody), cancellation, path, rule, options, watching);
      if (nobody) co_return std::move(*nobody);
      continue;
    }
    const std::string node = child(path, now.listing.contenders().front().name);
    error_code error;
    GetResult read;
    Watch watch;
    if (watching == Watching::yes) {
      std::tie(error, read, watch) = co_await await<&detail::start_get_and_watch, GetResult, Watch>(
          core, cancellation, node, options);
    } else {
      std::tie(error, read) =
          co_await await<&detail::start_get, GetResult>(core, cancellation, node, options);
    }
    if (error == ServerErrc::no_node) continue;  // has gone meanwhile
    if (error) co_return LeaderSnapshot{.error = error};
    const std::int64_t changed_by = read.stat.mzxid;
    co_return LeaderSnapshot{.leader = participant_of(client, node, std::move(read)),
                             .changed_by = changed_by,
                             .watch = std::move(watch)};
  }
}

namespace {

asio::awaitable<void> tell_leader(Client client, CancellationPtr cancellation, std::string path,
                                  NamingRule rule, OperationOptions options,
                                  std::shared_ptr<Handler<std::optional<Participant>>> handler) {
  LeaderSnapshot seen = co_await find_leader(std::move(client), cancellation, std::move(path), rule,
                                             options, Watching::no);
  std::move (*handler)(seen.error, std::move(seen.leader));
}

}  // namespace

void start_find_leader(const Client& client, CancellationPtr cancellation, std::string path,
                       NamingRule rule, OperationOptions options,
                       Handler<std::optional<Participant>> handler) {
  // Whoever drains may still look.
  if (client.unusable() == Errc::forked) return std::move(handler)(Errc::forked, std::nullopt);
  options.deadline = client.deadline_or_default(options.deadline);
  const auto ending = std::make_shared<Handler<std::optional<Participant>>>(std::move(handler));
  const std::string what = "a look at " + path;
  detail::spawn_detached(
      client.core(),
      tell_leader(client.share(), std::move(cancellation), std::move(path), rule, options, ending),
      what, ending);
}

void start_leader(std::shared_ptr<detail::ClientCore>, CancellationPtr cancellation,
                  LockSpecPtr spec, OperationOptions options,
                  Handler<std::optional<Participant>> handler) {
  start_find_leader(spec->client, std::move(cancellation), spec->path, spec->rule, options,
                    std::move(handler));
}

std::optional<Participant> leader_of(const LockSpecPtr& spec, std::string_view operation,
                                     OperationOptions options) {
  auto [error, leader] = block<&start_leader, std::optional<Participant>>(
      spec->client.core(), operation, spec->path, {}, spec, options);
  detail::throw_if(*spec->client.core(), error, operation, spec->path);
  return std::move(leader);
}

}  // namespace custodian::recipes_detail
