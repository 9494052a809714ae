// A report that is made once a day, by any one of the machines.
//
//   custodian-example-once_per_period 127.0.0.1:2181

#include "custodian/periodic/once_per_period.hpp"

#include <chrono>
#include <iostream>
#include <stop_token>
#include <string>

#include "custodian/client.hpp"

using namespace std::chrono_literals;

void make_report(const std::string& day, std::stop_token lost) {
  if (!lost.stop_requested()) std::cout << "the report for " << day << '\n';
}

/// Each machine calls this at about the same time, or every minute: only the servers' clock decides
/// whether a period has passed.
void report(const custodian::Client& client, const std::string& day) {
  const custodian::OncePerPeriod daily{client, "/examples/report", {.every = 24h}};
  auto result = daily.try_begin();
  if (!result) {
    std::cout << "not here: " << result.explain() << '\n';
    return;
  }
  try {
    // This process holds the lock until the turn ends. If the lock is lost before, it should stop.
    make_report(day, result.turn.lease().lost());
    result.turn.end(custodian::RunEnd::success());
  } catch (const std::exception&) {
    result.turn.end(custodian::RunEnd::failure());
    throw;
  }
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    report(client, "Monday");
    report(client, "Monday, again");
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
