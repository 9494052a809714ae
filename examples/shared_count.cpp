// A number that all processes share, and two ways to learn that it has changed.
//
//   custodian-example-shared_count 127.0.0.1:2181

#include "custodian/shared/shared_count.hpp"

#include <iostream>

#include "custodian/client.hpp"

void add_one(custodian::SharedCount& workers) {
  auto now = workers.load();
  while (!workers.compare_exchange(now, now.value + 1)) {
    // Another process was quicker, and `now` is the value that it wrote.
  }
}

/// Prints each change of the number of workers, for as long as the subscription lives.
custodian::Subscription follow(const custodian::SharedCount& workers) {
  return workers.on_change([](const auto& now) { std::cout << now.value << " workers now\n"; });
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    custodian::SharedCount workers{client, "/examples/workers", 4};
    const auto known = workers.load();
    std::cout << known.value << " workers\n";
    add_one(workers);
    // wait() returns at once if the number has changed since `known` was read, and otherwise waits
    // without limit.
    std::cout << "from now on " << workers.wait(known).value << " workers\n";
    const custodian::Subscription subscription = follow(workers);
    add_one(workers);
    std::cout << workers.last_known()->value << " workers, without a request\n";
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
