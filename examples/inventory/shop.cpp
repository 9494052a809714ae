#include "shop.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>
#include <type_traits>
#include <utility>

#include "custodian/locks/path_of.hpp"
#include "custodian/locks/with_lock.hpp"

namespace inventory {

namespace asio = boost::asio;

namespace {

/// Runs a blocking function on another executor, and returns its result on this one.
template <typename Function>
asio::awaitable<std::invoke_result_t<Function&>> run_on(asio::any_io_executor executor,
                                                        Function function) {
  // The coroutine is awaited here, so `function` outlives it.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
  const auto there = [&function]() -> asio::awaitable<std::invoke_result_t<Function&>> {
    co_return function();
  };
  co_return co_await asio::co_spawn(std::move(executor), there(), asio::use_awaitable);
}

/// The outcome of an order that did not get the lock.
Sale without_lock(custodian::NotAcquired reason) {
  return reason == custodian::NotAcquired::no_connection ? Sale::locks_unavailable : Sale::busy;
}

}  // namespace

std::string to_string(Sale sale) {
  switch (sale) {
    case Sale::sold: return "sold";
    case Sale::out_of_stock: return "out_of_stock";
    case Sale::no_such_item: return "no_such_item";
    case Sale::busy: return "busy";
    case Sale::locks_unavailable: return "locks_unavailable";
    case Sale::lock_lost: return "lock_lost";
    case Sale::shutting_down: return "shutting_down";
  }
  return "unknown";
}

Shop::Shop(const custodian::Client& client, Stock& stock, ShopOptions options)
    : client_{client.share()}, stock_{stock}, options_{options} {}

asio::awaitable<Sale> Shop::sell(std::string item, std::int64_t pieces) {
  if (!options_.locks) {
    const custodian::Lease none;
    co_return co_await sell_as_the_only_one(item, pieces, none);
  }
  const custodian::WithLockOptions options{.wait = options_.wait,
                                           .when_busy = custodian::Otherwise::skip,
                                           .when_away = custodian::Otherwise::skip,
                                           .when_lost = custodian::WhenLost::is_reported};
  // co_with_lock() is awaited below, so `sell_some` and what it refers to outlive the call.
  // NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
  const auto sell_some = [&](const custodian::Lease& lease) -> asio::awaitable<Sale> {
    co_return co_await sell_as_the_only_one(item, pieces, lease);
  };
  // NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
  try {
    // The names of items come from outside. With path_of() no name can lead to another path.
    std::string path = custodian::path_of("/inventory/{}", item);
    const auto call =
        co_await custodian::co_with_lock(client_, std::move(path), options, sell_some);
    co_return call ? *call.value : without_lock(call.reason);
  } catch (const custodian::Error& error) {
    if (error.code() == custodian::Errc::closed) co_return Sale::shutting_down;
    if (error.code() == custodian::Errc::invalid_argument) co_return Sale::no_such_item;
    throw;
  }
}

// sell() awaits this coroutine, so the arguments outlive it.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<Sale> Shop::sell_as_the_only_one(const std::string& item, std::int64_t pieces,
                                                 const custodian::Lease& lease) {
  // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)
  std::optional<custodian::FencingToken> token;
  if (lease) token = lease.token();
  const auto database = database_.get_executor();
  if (!co_await run_on(database, [&] { return stock_.pieces(item).has_value(); })) {
    co_return Sale::no_such_item;
  }
  // The claim comes before the pieces are read. After that only a seller with a newer token can
  // change their number, and the store then refuses this sale.
  if (!co_await run_on(database, [&] { return stock_.claim(item, token); })) {
    co_return Sale::lock_lost;
  }
  const std::int64_t there = *co_await run_on(database, [&] { return stock_.pieces(item); });
  if (there < pieces) co_return Sale::out_of_stock;

  asio::steady_timer work{co_await asio::this_coro::executor, options_.work};
  co_await work.async_wait(asio::use_awaitable);
  const auto sold = [&] { return stock_.sell(item, there - pieces, pieces, token); };
  co_return co_await run_on(database, sold) ? Sale::sold : Sale::lock_lost;
}

}  // namespace inventory
