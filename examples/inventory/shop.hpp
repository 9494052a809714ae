#pragma once

/// \file
/// Shop sells pieces of items, one seller of an item at a time among all instances. It knows the
/// locks and the stock, and nothing of HTTP.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <string>

#include "custodian/client.hpp"
#include "custodian/lease/lease.hpp"
#include "stock.hpp"

namespace inventory {

/// The outcome of an order.
enum class Sale {
  sold,
  out_of_stock,
  no_such_item,
  busy,               ///< another seller holds the item's lock; the customer may try again
  locks_unavailable,  ///< there is no connection to ZooKeeper
  lock_lost,          ///< the lock was lost during the sale, and nothing was sold
  shutting_down,
};
/// The name of the enumerator: "out_of_stock".
[[nodiscard]] std::string to_string(Sale sale);

struct ShopOptions {
  /// The time that an order waits for the item's lock.
  std::chrono::milliseconds wait{200};
  /// The time that a sale takes outside the database, as when the customer has to pay.
  std::chrono::milliseconds work{3};
  /// False shows what the locks are for: the shop then oversells.
  bool locks = true;
};

/// Threads: any. The client and the stock must outlive the shop.
class Shop {
 public:
  Shop(const custodian::Client& client, Stock& stock, ShopOptions options);

  /// Sells the pieces, or says why not. Completes on the awaiting coroutine's executor. Throws
  /// sqlite::Error, and custodian::Error for a failure that `Sale` does not name, such as an ACL
  /// that forbids the lock.
  boost::asio::awaitable<Sale> sell(std::string item, std::int64_t pieces);

 private:
  boost::asio::awaitable<Sale> sell_as_the_only_one(const std::string& item, std::int64_t pieces,
                                                    const custodian::Lease& lease);

  const custodian::Client client_;
  Stock& stock_;
  const ShopOptions options_;
  /// The database has a thread of its own, because its calls block.
  boost::asio::thread_pool database_{1};
};

}  // namespace inventory
