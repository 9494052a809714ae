/// \file
/// Does the jobs of a store as a leader would, as quickly as possible, without an election. Prints
/// how many results it has recorded, how many were recorded by others before, and whether it was
/// refused.
///
///   custodian-scheduler-writer <database> <id> <token>

#include <exception>
#include <iostream>
#include <string>

#include "sqlite_job_store.hpp"

int main(int argc, char* argv[]) {
  if (argc != 4) return 2;
  int recorded = 0;
  int late = 0;
  bool refused = false;
  try {
    job_scheduler::SqliteJobStore store{argv[1]};
    const job_scheduler::Leader leader{.id = argv[2], .token = {.value = std::stoll(argv[3])}};
    while (const auto attempt = store.begin_attempt(leader))
      ++(store.record(leader, *attempt, std::to_string(attempt->job * attempt->job)) ? recorded
                                                                                     : late);
  } catch (const job_scheduler::StaleToken&) {
    refused = true;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  std::cout << recorded << ' ' << late << ' ' << refused << '\n';
}
