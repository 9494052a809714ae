#include <algorithm>
#include <list>

#include "scenarios.hpp"
#include "stage.hpp"

namespace custodian::tests {

namespace {

/// Waits until this many sessions watch the node. Returns false if they do not.
bool is_watched(const std::string& node, std::size_t sessions) {
  return eventually([&] {
    const auto all = own_server().watches_by_session();
    return static_cast<std::size_t>(std::ranges::count_if(all, [&](const auto& each) {
             return std::ranges::find(each.second, node) != each.second.end();
           })) == sessions;
  });
}

}  // namespace

void wait_at_one_barrier(const Peer& one, const Peer& other) {
  Stage stage{"barrier"};
  const std::string path = stage.path("barrier");
  Driver ones{one};
  Driver others{other};
  Session first{ones, "first"};
  Session second{others, "second"};
  for (int round = 0; round < 2; ++round) {
    Session& setter = round == 0 ? first : second;
    Session& remover = round == 0 ? second : first;
    setter.does("set-barrier " + path);
    std::list<Session> waiters;
    for (const int number : {0, 1}) {
      std::string name = "waiter-" + std::to_string(round) + "-" + std::to_string(number);
      waiters.emplace_back(ones, name).begin("await-barrier " + path);
      waiters.emplace_back(others, name).begin("await-barrier " + path);
    }
    REQUIRE(is_watched(path, waiters.size()));
    for (Session& each : waiters) CHECK_FALSE(each.has_ended());
    remover.does("remove-barrier " + path);
    for (Session& each : waiters) static_cast<void>(each.end());
    // A barrier that is not set lets everybody pass at once.
    first.does("await-barrier " + path);
    second.does("await-barrier " + path);
  }
}

}  // namespace custodian::tests
