// The example of a service, as its users see it: three instances sell what is in stock, and no
// more, whatever happens to them.

#include <csignal>
#include <memory>
#include <optional>

#include "child_process/child_process.hpp"
#include "custodian/testing/testing_server.hpp"
#include "customers.hpp"
#include "programs/program.hpp"
#include "sqlite.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::inventory_test {
namespace {

using namespace std::chrono_literals;
using inventory::ask;
using inventory::Customers;

const std::vector<std::string> items{"bolt", "lamp", "nail", "saw"};

/// A process of the example, which sells.
class Instance {
 public:
  Instance(const std::string& servers, const std::string& database, std::int64_t pieces, bool locks)
      : process_{CUSTODIAN_SETPRIV, words(servers, database, pieces, locks)} {
    while (port_ == 0 && !process_.has_ended()) {
      for (const std::string& line : process_.listen()) {
        const auto colon = line.rfind(':');
        if (line.starts_with("listening on ")) {
          port_ = static_cast<std::uint16_t>(std::stoi(line.substr(colon + 1)));
        }
      }
    }
    REQUIRE(port_ != 0);
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  void kill() { process_.kill(); }
  /// Sends SIGTERM. Returns true if all orders could end and the exit status is 0.
  [[nodiscard]] bool ends_in_order() {
    process_.send_signal(SIGTERM);
    bool closed = false;
    while (!process_.has_ended()) {
      for (const std::string& line : process_.listen()) closed = closed || line == "closed";
    }
    return closed && process_.has_succeeded();
  }

 private:
  static std::vector<std::string> words(const std::string& servers, const std::string& database,
                                        std::int64_t pieces, bool locks) {
    // The kernel ends the instance with this process, even if this one is killed.
    std::vector<std::string> all{"--pdeathsig",
                                 "KILL",
                                 CUSTODIAN_EXAMPLE_INVENTORY,
                                 "--servers",
                                 servers,
                                 "--port",
                                 "0",
                                 "--database",
                                 database,
                                 "--session-timeout-ms",
                                 "2000",
                                 "--touch-interval-ms",
                                 "375"};
    for (const std::string& item : items) {
      all.insert(all.end(), {"--item", item + "=" + std::to_string(pieces)});
    }
    if (!locks) all.emplace_back("--without-locks");
    return all;
  }

  testing::ChildProcess process_;
  std::uint16_t port_ = 0;
};

/// What the database has at the end.
struct Books {
  std::int64_t left = 0;
  std::int64_t ordered = 0;
  std::int64_t fewest = 0;  ///< the smallest stock of an item
};

Books audit(const std::string& database) {
  sqlite::Connection connection{database, 10s};
  Books books;
  sqlite::Statement stock{connection, "SELECT sum(pieces), min(pieces) FROM items"};
  REQUIRE(stock.step());
  books.left = stock.integer(0);
  books.fewest = stock.integer(1);
  sqlite::Statement orders{connection, "SELECT coalesce(sum(pieces), 0) FROM orders"};
  REQUIRE(orders.step());
  books.ordered = orders.integer(0);
  return books;
}

class Shop {
 public:
  Shop(std::int64_t pieces, bool locks) : pieces_{pieces} {
    for (int i = 0; i < 3; ++i) {
      instances_.push_back(
          std::make_unique<Instance>(server.connect_string(), database(), pieces, locks));
    }
  }

  [[nodiscard]] std::string database() const { return folder_.file("stock.sqlite"); }
  [[nodiscard]] Instance& instance(std::size_t index) { return *instances_[index]; }
  [[nodiscard]] std::int64_t all_pieces() const {
    return pieces_ * static_cast<std::int64_t>(items.size());
  }
  [[nodiscard]] std::vector<std::uint16_t> ports() const {
    std::vector<std::uint16_t> ports;
    for (const auto& each : instances_) ports.push_back(each->port());
    return ports;
  }

  testing::TestingServer server;

 private:
  Directory folder_;
  const std::int64_t pieces_;
  std::vector<std::unique_ptr<Instance>> instances_;
};

bool within(std::chrono::seconds limit, const std::function<bool()>& condition) {
  const Deadline deadline{limit};
  while (!condition()) {
    if (deadline.passed()) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

TEST_CASE("three instances sell what there is and no more, through a kill and an outage") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Shop shop{250, true};
  Customers customers{12, items};
  customers.go_to(shop.ports());
  const auto sold = [&](std::int64_t pieces) {
    return within(60s, [&] { return customers.told("sold") >= pieces; });
  };
  REQUIRE(sold(100));

  shop.instance(0).kill();
  customers.go_to({shop.instance(1).port(), shop.instance(2).port()});
  const std::int64_t at_kill = customers.told("sold");
  REQUIRE(sold(at_kill + 100));

  shop.server.stop();
  REQUIRE(within(30s, [&] { return customers.told("locks_unavailable") > 20; }));
  const std::int64_t in_outage = customers.told("sold");
  CHECK(ask(shop.instance(1).port(), "GET", "/healthz").status == 200);
  CHECK(within(30s, [&] { return ask(shop.instance(1).port(), "GET", "/readyz").status == 503; }));
  shop.server.start();
  REQUIRE(sold(in_outage + 100));
  CHECK(within(30s, [&] { return ask(shop.instance(1).port(), "GET", "/readyz").status == 200; }));

  CHECK(within(60s, [&] { return audit(shop.database()).left == 0; }));
  CHECK(within(10s, [&] { return customers.told("out_of_stock") > 0; }));
  CHECK(shop.instance(2).ends_in_order());
  customers.go_to({shop.instance(1).port()});
  CHECK(shop.instance(1).ends_in_order());
  customers.stop();

  const Books books = audit(shop.database());
  CHECK(books.left == 0);
  CHECK(books.fewest == 0);
  CHECK(books.ordered == shop.all_pieces());
  // No customer got the answer "sold" without a sale; an instance that was killed may have sold
  // without an answer.
  CHECK(customers.told("sold") <= books.ordered);
  CHECK(customers.told("failed") == 0);
}

TEST_CASE("the same without locks sells more than there is: the test above can fail") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Shop shop{20, false};
  Customers customers{12, items};
  customers.go_to(shop.ports());
  CHECK(within(60s, [&] { return audit(shop.database()).ordered > shop.all_pieces(); }));
}

TEST_CASE("an order may be for nothing that there is, for too much, or for nonsense") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Shop shop{3, true};
  const std::uint16_t port = shop.instance(0).port();
  CHECK(within(10s, [&] { return ask(port, "POST", "/orders/lamp?pieces=2").status == 200; }));
  CHECK(ask(port, "GET", "/stock/lamp").body == "{\"pieces\":1}\n");
  CHECK(ask(port, "POST", "/orders/lamp?pieces=2").status == 409);
  CHECK(ask(port, "POST", "/orders/unicorn").status == 404);
  CHECK(ask(port, "POST", "/orders/..%2F..%2Flamp").status == 404);
  CHECK(ask(port, "POST", "/orders/").status == 404);
  for (const char* nonsense : {"pieces=0", "pieces=-1", "pieces=1e3", "much"}) {
    CHECK(ask(port, "POST", std::string{"/orders/lamp?"} + nonsense).status == 400);
  }
  CHECK(ask(port, "GET", "/stock/unicorn").status == 404);
  CHECK(ask(port, "GET", "/somewhere").status == 404);
  const inventory::Answer metrics = ask(port, "GET", "/metrics");
  if (metrics.status == 200) {
    CHECK(metrics.body.find("custodian_acquires_total") != std::string::npos);
  } else {
    CHECK(metrics.status == 404);
  }
  CHECK(shop.instance(0).ends_in_order());
}

}  // namespace
}  // namespace custodian::tests::inventory_test
