#include "barriers/fresh_look.hpp"

#include <utility>

namespace custodian::recipes_detail {

namespace asio = boost::asio;

FreshLook::FreshLook(const Client& client, std::string path, CancellationPtr cancellation,
                     OperationOptions options)
    : client_{client.share()},
      path_{std::move(path)},
      cancellation_{std::move(cancellation)},
      options_{options} {}

asio::awaitable<Result<Watched<std::optional<Stat>>>> FreshLook::take(Watching watching) {
  const CorePtr core = client_.core();
  for (;;) {
    if (caught_up_in_ == 0 || client_.session().id != caught_up_in_) {
      const auto [error] = co_await await<&start_sync>(core, cancellation_, path_, options_);
      if (error) co_return error;
      caught_up_in_ = client_.session().id;
    }
    // A get, because an exists would leave a watch on a missing node.
    Result<Watched<GetResult>> seen =
        co_await read_data(core, cancellation_, path_, options_, watching);
    const bool is_missing = seen.error() == ServerErrc::no_node;
    if (!seen && !is_missing) co_return seen.error();
    // The read was repeated in another session, whose server may lag behind.
    if (client_.session().id != caught_up_in_) continue;
    if (is_missing) co_return Watched<std::optional<Stat>>{};
    co_return Watched<std::optional<Stat>>{seen->value.stat, std::move(seen->watch)};
  }
}

}  // namespace custodian::recipes_detail
