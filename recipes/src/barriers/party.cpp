#include "barriers/party.hpp"

#include <algorithm>
#include <utility>

#include "custodian/authoring/follow.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

bool Members::has(std::string_view name) const {
  return std::ranges::find(names, name) != names.end();
}

namespace {

bool has_caught_up(const Party& party) {
  return party.caught_up_in != 0 && party.client.session().id == party.caught_up_in;
}

asio::awaitable<error_code> catch_up(PartyPtr party, CancellationPtr cancellation,
                                     OperationOptions options) {
  if (has_caught_up(*party)) co_return error_code{};
  const auto [error] = co_await await<&start_sync>(party->client.core(), std::move(cancellation),
                                                   party->path, options);
  if (!error) party->caught_up_in = party->client.session().id;
  co_return error;
}

}  // namespace

asio::awaitable<Result<Members>> list(PartyPtr party, CancellationPtr cancellation,
                                      OperationOptions options) {
  const CorePtr core = party->client.core();
  const std::string path = party->path;
  for (;;) {
    const error_code error = co_await catch_up(party, cancellation, options);
    if (error) co_return error;
    Result<Watched<Children>> seen =
        co_await read_children(core, cancellation, path, options, Watching::no);
    if (!seen && seen.error() != ServerErrc::no_node) co_return seen.error();
    // The read was repeated in another session, whose server may lag behind.
    if (!has_caught_up(*party)) continue;
    if (!seen) co_return Members{};
    Children& children = seen->value;
    const bool is_ready = std::ranges::find(children.names, ready_name) != children.names.end();
    co_return Members{members_of(std::move(children.names)), children.stat.czxid,
                      children.stat.version, children.stat.pzxid, is_ready};
  }
}

asio::awaitable<Result<std::optional<GetResult>>> read_node(PartyPtr party,
                                                            CancellationPtr cancellation,
                                                            std::string path,
                                                            OperationOptions options) {
  const CorePtr core = party->client.core();
  for (;;) {
    const error_code error = co_await catch_up(party, cancellation, options);
    if (error) co_return error;
    Result<Watched<GetResult>> seen =
        co_await read_data(core, cancellation, path, options, Watching::no);
    if (!seen && seen.error() != ServerErrc::no_node) co_return seen.error();
    if (!has_caught_up(*party)) continue;
    if (!seen) co_return std::optional<GetResult>{};
    co_return std::optional<GetResult>{std::move(seen->value)};
  }
}

asio::awaitable<error_code> commit(PartyPtr party, CancellationPtr cancellation,
                                   Transaction transaction, OperationOptions options) {
  const auto [error, results] = co_await await<&start_commit, std::vector<TransactionResult>>(
      party->client.core(), std::move(cancellation), std::move(transaction), options);
  co_return error;
}

bool is_overtaken(const error_code& error) noexcept {
  return error == ServerErrc::no_node || error == ServerErrc::node_exists ||
         error == ServerErrc::bad_version || error == ServerErrc::connection_loss;
}

}  // namespace custodian::recipes_detail
