#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "custodian/locks/inter_process_mutex.hpp"
#include "integration/client/driven_session.hpp"
#include "integration/client/hostile_server.hpp"
#include "support/jute.hpp"
#include "support/shortage.hpp"
#include "support/test_client.hpp"

namespace custodian::tests {
namespace {

constexpr std::size_t little = 100'000;

HostileServer::Words words(std::function<std::string(const SeenRequest&)> answer) {
  return {.greeting = [] { return Greeting{}.frame(); }, .answer = std::move(answer)};
}

TEST_CASE("a reply for which there is no memory ends its connection, and its request with it") {
  // The replies to a listing have little text, but more names than there is memory for. The replies
  // to a read are too long to be checked.
  const HostileServer server{words([](const SeenRequest& request) {
    constexpr std::int32_t children = 12;
    if (request.type != children) {
      return Jute{}.header(request.xid).string(std::string(2 * little, 'x')).stat().frame();
    }
    Jute reply = Jute{}.header(request.xid).number(10'000);
    for (int i = 0; i < 10'000; ++i) reply.string("name");
    return reply.stat().frame();
  })};
  for (const Request& request :
       {Request{request::GetChildren{"/", nullptr}}, Request{request::Get{"/", nullptr}}}) {
    CAPTURE(request.index());
    std::vector<error_code> errors;
    errors.reserve(1);
    DrivenSession session{server.connect_string()};
    {
      const Shortage shortage{little};
      session.submit(request, errors);
      CHECK(session.until([&] { return !errors.empty(); }));
    }
    REQUIRE(errors.size() == 1);
    CHECK(errors.front() == ServerErrc::connection_loss);
  }
}

/// Counts its events.
struct CountingWatcher : Watcher {
  void on_event(error_code error, WatchEventType type) override {
    ++events;
    last = {error, type};
  }
  int events = 0;
  std::pair<error_code, WatchEventType> last{};
};

TEST_CASE("a watch that fires when there is no memory for it makes its watcher read again") {
  // There is no memory for the path, but there is for its frame: in the buffer of earlier frames.
  constexpr std::size_t very_little = 8'000;
  const std::string path = "/" + std::string(very_little + 1, 'x');
  const HostileServer server{words([&](const SeenRequest& request) {
    if (request.body.find(path) != std::string::npos || request.xid < 0) {
      return Jute{}.header(request.xid).stat().frame();
    }
    constexpr std::int32_t watch_event = -1;
    constexpr std::int32_t changed = 3;
    constexpr std::int32_t connected = 3;
    return Jute{}.header(watch_event).number(changed).number(connected).string(path).frame() +
           Jute{}.header(request.xid).stat().frame();
  })};
  DrivenSession session{server.connect_string()};
  const auto watcher = std::make_shared<CountingWatcher>();
  std::optional<error_code> armed;
  session.submit(request::Exists{path, watcher}, [&](error_code error) { armed = error; });
  REQUIRE(session.until([&] { return armed.has_value(); }));
  REQUIRE(armed == error_code{});
  std::optional<Shortage> shortage{very_little};
  std::optional<error_code> lost;
  session.submit(request::Exists{"/", nullptr}, [&](error_code error) {
    shortage.reset();
    lost = error;
  });
  CHECK(session.until([&] { return watcher->events > 0; }));
  CHECK(watcher->events == 1);
  CHECK(watcher->last.first == error_code{});
  REQUIRE(lost);
  CHECK(*lost == ServerErrc::connection_loss);
}

/// The errors of `requests` requests whose replies are read while memory is short.
std::vector<error_code> errors_of(std::size_t requests, const HostileServer& server,
                                  std::size_t memory) {
  DrivenSession session{server.connect_string()};
  std::vector<error_code> errors;
  errors.reserve(requests);
  for (std::size_t i = 0; i < requests; ++i) {
    session.submit(request::Exists{"/", nullptr}, errors);
  }
  const Shortage shortage{memory};
  CHECK(session.until([&] { return errors.size() == requests; }));
  return errors;
}

TEST_CASE("requests whose end cannot be noted for want of memory end with their connection") {
  constexpr std::size_t requests = 3'000;
  std::atomic<std::size_t> seen{0};
  auto spoken = words([&](const SeenRequest&) {
    ++seen;
    return std::string{};
  });
  spoken.ends = [&](const SeenRequest&) { return seen == requests; };
  const HostileServer server{std::move(spoken)};
  const std::vector<error_code> errors = errors_of(requests, server, little);
  CHECK(errors == std::vector<error_code>(requests, ServerErrc::connection_loss));
}

TEST_CASE("a reply whose arrival cannot be noted for want of memory ends with its connection") {
  // All replies come at once, so that the list of what they have brought grows in one turn: beyond
  // what there is memory for.
  constexpr std::size_t requests = 250;
  constexpr std::size_t very_little = 20'000;
  std::string replies;
  std::size_t seen = 0;
  const HostileServer server{words([&](const SeenRequest& request) {
    replies += Jute{}.header(request.xid).stat().frame();
    return ++seen == requests ? replies : std::string{};
  })};
  const std::vector<error_code> errors = errors_of(requests, server, very_little);
  const auto lost = std::ranges::find(errors, error_code{ServerErrc::connection_loss});
  CHECK(lost != errors.begin());
  CHECK(lost != errors.end());
  CHECK(std::all_of(lost, errors.end(),
                    [](const error_code& error) { return error == ServerErrc::connection_loss; }));
}

TEST_CASE("a change of identity for which there is no memory says so, and the lock stays held") {
  constexpr std::size_t very_little = 8'000;
  TestClient place{"no-memory"};
  ClientOptions options = options_for(connect_string());
  options.name_space = place.root();
  boost::asio::io_context context;
  const auto run_until = [&](const std::function<bool()>& condition) {
    return eventually([&] {
      context.restart();
      context.run_one_for(std::chrono::milliseconds{100});
      return condition();
    });
  };
  std::optional<Client> client{std::in_place, context.get_executor(), options};
  Lease lease;
  InterProcessMutex{*client, "/lock"}.async_acquire(
      [&](error_code, Lease acquired) { lease = std::move(acquired); });
  REQUIRE(run_until([&] { return static_cast<bool>(lease); }));
  std::optional<error_code> changed;
  // The request is a copy of the identity.
  lease.async_set_identity(std::string(very_little + 1, 'x'),
                           [&](error_code error) { changed = error; });
  {
    const Shortage shortage{very_little};
    CHECK(run_until([&] { return changed.has_value(); }));
  }
  REQUIRE(changed);
  CHECK(*changed == boost::system::errc::not_enough_memory);
  CHECK(lease.state() == LeaseState::held);
  lease.release();
  bool is_closed = false;
  client->async_close(Deadline{patience}, [&](auto&&...) { is_closed = true; });
  CHECK(run_until([&] { return is_closed; }));
}

}  // namespace
}  // namespace custodian::tests
