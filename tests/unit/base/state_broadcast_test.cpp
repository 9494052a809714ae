#include "base/state_broadcast.hpp"

#include "support/catch.hpp"

namespace custodian::tests::state_broadcast_test {
namespace {

enum class Light { red, amber, green };
using Broadcast = detail::StateBroadcast<Light>;

/// Sets a state and notifies on this thread.
void become(Broadcast& broadcast, Light light) {
  broadcast.notify(broadcast.set(light), [](const auto& call) { call(); });
}

TEST_CASE("a broadcast begins with its first state, and has the newest after that") {
  Broadcast broadcast{Light::red};
  CHECK(broadcast.newest() == Light::red);
  become(broadcast, Light::green);
  CHECK(broadcast.newest() == Light::green);
}

TEST_CASE("listeners hear of each state in the order in which they came") {
  Broadcast broadcast{Light::red};
  std::vector<std::pair<int, Light>> heard;
  const auto one = broadcast.listen([&](Light light) { heard.emplace_back(1, light); });
  const auto two = broadcast.listen([&](Light light) { heard.emplace_back(2, light); });
  become(broadcast, Light::green);
  become(broadcast, Light::red);
  CHECK(heard == std::vector<std::pair<int, Light>>{
                     {1, Light::green}, {2, Light::green}, {1, Light::red}, {2, Light::red}});
}

TEST_CASE("a listener hears of nothing that was set before it came") {
  Broadcast broadcast{Light::red};
  int heard = 0;
  auto change = broadcast.set(Light::green);
  const auto late = broadcast.listen([&heard](Light) { ++heard; });
  broadcast.notify(std::move(change), [](const auto& call) { call(); });
  CHECK(heard == 0);
}

TEST_CASE("a listener whose subscription has ended before its call is not called") {
  Broadcast broadcast{Light::red};
  int heard = 0;
  {
    const auto listener = broadcast.listen([&heard](Light) { ++heard; });
    become(broadcast, Light::amber);
  }
  become(broadcast, Light::green);
  CHECK(heard == 1);
}

TEST_CASE("a wait ends with another state, once, and after the listeners were called") {
  Broadcast broadcast{Light::red};
  std::string order;
  const auto listener = broadcast.listen([&order](Light) { order += 'l'; });
  broadcast.wait(broadcast.newest(), Light::red, nullptr, [&order](error_code error, Light light) {
    order += !error && light == Light::green ? 'w' : '?';
  });
  CHECK(order.empty());
  become(broadcast, Light::green);
  become(broadcast, Light::red);
  CHECK(order == "lwl");
}

TEST_CASE("a wait for another state than the present one ends at once") {
  Broadcast broadcast{Light::green};
  Light seen = Light::red;
  broadcast.wait(broadcast.newest(), Light::red, nullptr,
                 [&seen](error_code, Light light) { seen = light; });
  CHECK(seen == Light::green);
  CHECK_FALSE(broadcast.has_waiters());
}

TEST_CASE("the waiters of a broadcast that ends can be aborted later") {
  auto broadcast = std::make_unique<Broadcast>(Light::red);
  error_code ended;
  broadcast->wait(Light::red, Light::red, nullptr,
                  [&ended](error_code error, Light) { ended = error; });
  CHECK(broadcast->has_waiters());
  auto waiters = broadcast->take_waiters();
  broadcast.reset();
  CHECK_FALSE(ended);
  waiters.abort(Light::amber);
  CHECK(ended == boost::asio::error::operation_aborted);
}

}  // namespace
}  // namespace custodian::tests::state_broadcast_test
