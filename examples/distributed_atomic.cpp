// A number that many processes count with: no addition is lost, and none counts twice.
//
//   custodian-example-distributed_atomic 127.0.0.1:2181

#include <iostream>

#include "custodian/atomics/cached_atomic_long.hpp"
#include "custodian/atomics/distributed_atomic_long.hpp"
#include "custodian/client.hpp"

/// With Settle::exactly_once the client finds out whether an addition counted, even if the reply
/// was lost.
custodian::DistributedAtomicLong orders_of(const custodian::Client& client) {
  return {client, "/examples/orders", {.settle = custodian::Settle::exactly_once}};
}

void count_orders(custodian::DistributedAtomicLong& orders) {
  const custodian::Updated<std::int64_t> done = orders.fetch_add(3);
  std::cout << "from " << done.before.value << " to " << done.after.value << " in " << done.tries
            << (done.tries == 1 ? " try\n" : " tries\n");
  ++orders;  // as with std::atomic
}

/// Hands out unique numbers from memory, to any number of threads: a hundred numbers cost one
/// write.
void number_parcels(const custodian::DistributedAtomicLong& parcels) {
  custodian::CachedAtomicLong numbers{parcels, {.chunk = 100, .prefetch_at = 20}};
  const std::int64_t first = numbers.next();
  std::cout << "parcels " << first << " and " << numbers.next() << '\n';
}

/// Takes one item from the stock. Returns false if there is none.
bool take_one(custodian::DistributedAtomicLong& stock) {
  const auto done = stock.update([](const std::int64_t& now) {
    return now > 0 ? std::optional{now - 1} : std::nullopt;  // no value: the stock stays as it is
  });
  return done.written;
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    custodian::DistributedAtomicLong orders = orders_of(client);
    count_orders(orders);
    number_parcels(custodian::DistributedAtomicLong{client, "/examples/parcels"});
    custodian::DistributedAtomicLong stock{client, "/examples/in-stock"};
    stock.store(1);
    std::cout << (take_one(stock) ? "taken" : "sold out") << ", then "
              << (take_one(stock) ? "taken" : "sold out") << '\n';
  } catch (const custodian::Error& error) {
    if (error.code() == custodian::ErrorCondition::outcome_unknown) {
      std::cerr << "nobody knows whether it counted: ";
    }
    std::cerr << error.what() << '\n';
    return 1;
  }
}
