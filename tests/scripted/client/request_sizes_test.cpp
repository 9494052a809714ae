// The sizes of the requests that a client makes by itself: none exceeds what the servers accept.

#include <algorithm>

#include "base/encoded_size.hpp"
#include "scripted/held.hpp"
#include "scripted/passing_session.hpp"

namespace custodian::tests::request_sizes_test {
namespace {

using namespace std::chrono_literals;

struct Sizes {
  std::size_t most = 0;
  std::size_t multis = 0;
  std::size_t most_checks = 0;
};

/// A session that measures each request and passes it on.
class Scale final : public PassingSession {
 public:
  Scale(std::shared_ptr<Session> session, std::shared_ptr<Sizes> sizes)
      : PassingSession{std::move(session)}, sizes_{std::move(sizes)} {}

  void submit(Request request, ReplyHandler handler) override {
    sizes_->most = std::max(sizes_->most, detail::encoded_size(request));
    if (const auto* multi = std::get_if<request::Multi>(&request)) {
      ++sizes_->multis;
      sizes_->most_checks = std::max(sizes_->most_checks, multi->operations.size());
    }
    PassingSession::submit(std::move(request), std::move(handler));
  }

 private:
  const std::shared_ptr<Sizes> sizes_;
};

/// Many leases of one client whose requests are measured.
struct Weighed {
  Weighed(std::size_t leases_wanted, std::size_t limit) {
    ClientOptions options = world.options("holder");
    options.session_timeout = timeout;
    options.touch_interval = 70ms;
    options.max_request_size = limit;
    options.session_factory = [make = options.session_factory, sizes = sizes](
                                  auto strand, SessionSettings settings, auto observer) {
      return std::make_shared<Scale>(make(strand, std::move(settings), observer), sizes);
    };
    client = world.client(options);
    for (std::size_t i = 0; i != leases_wanted; ++i) {
      mutexes.push_back(std::make_unique<InterProcessMutex>(*client, "/many/" + std::to_string(i)));
      auto acquired = run<Lease>(world, [&](auto done) { mutexes.back()->async_acquire(done); });
      REQUIRE(acquired.arrived());
      REQUIRE_FALSE(acquired.error());
      leases.push_back(std::move(acquired.result()));
    }
  }
  ~Weighed() {
    leases.clear();
    mutexes.clear();
    CHECK(world.end(client));
  }
  Weighed(const Weighed&) = delete;
  Weighed& operator=(const Weighed&) = delete;

  [[nodiscard]] bool are_held() const {
    return std::ranges::all_of(leases,
                               [](const Lease& each) { return each.state() == LeaseState::held; });
  }

  World world;
  std::shared_ptr<Sizes> sizes = std::make_shared<Sizes>();
  std::unique_ptr<Client> client;
  std::vector<std::unique_ptr<InterProcessMutex>> mutexes;
  std::vector<Lease> leases;
};

TEST_CASE("sizes: beats are a quarter of what the servers accept, and reach every lease",
          "[timed]") {
  constexpr std::size_t limit = 4096;
  Weighed holder{100, limit};
  holder.sizes->most = 0;
  holder.sizes->multis = 0;
  const auto begun = BootClock::now();
  REQUIRE(holder.world.run_until([&] { return BootClock::now() > begun + timeout * 3 / 2; }));
  CHECK(holder.are_held());
  CHECK(holder.sizes->most <= limit / 4);
  CHECK(holder.sizes->multis > 8);
  // Beats find deleted nodes at the front, in the middle and at the end of the leases.
  holder.world.remove(holder.leases.front().node());
  holder.world.remove(holder.leases[50].node());
  holder.world.remove(holder.leases.back().node());
  REQUIRE(holder.world.run_until([&] {
    return holder.leases.front().lost().stop_requested() &&
           holder.leases[50].lost().stop_requested() &&
           holder.leases.back().lost().stop_requested();
  }));
}

TEST_CASE("sizes: nodes that are deleted together cost one beat, and a request each", "[timed]") {
  // There are so many leases that the test would time out if each beat found only one deleted node.
  constexpr std::size_t leases = 120;
  Weighed holder{leases, 0xfffff};
  for (std::size_t i = 0; i < leases; i += 2) holder.world.remove(holder.leases[i].node());
  holder.sizes->multis = 0;
  REQUIRE(holder.world.run_until([&] {
    for (std::size_t i = 0; i < leases; i += 2) {
      if (!holder.leases[i].lost().stop_requested()) return false;
    }
    return true;
  }));
  CHECK(holder.sizes->multis <= leases / 2 + 2);
  for (std::size_t i = 1; i < leases; i += 2) CHECK(holder.leases[i].state() == LeaseState::held);
}

TEST_CASE("sizes: what a recipe cannot know to be too large fails, and is not sent") {
  World world;
  const auto sizes = std::make_shared<Sizes>();
  ClientOptions options = world.options("mine");
  options.max_request_size = 2048;
  options.acl_provider = [](std::string_view path) {
    return path.starts_with("/guarded") ? Acl(200, AclEntry{}) : open_acl();
  };
  options.session_factory = [make = options.session_factory, sizes](
                                auto strand, SessionSettings settings, auto observer) {
    return std::make_shared<Scale>(make(strand, std::move(settings), observer), sizes);
  };
  auto client = world.client(options);
  {
    InterProcessMutex mutex{*client, "/guarded/lock"};
    auto acquired = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(acquired.arrived());
    CHECK(acquired.error() == Errc::request_too_large);
    CHECK(acquired.error() == ErrorCondition::caller_mistake);
  }
  client->remove_in_background("/" + std::string(5000, 'x'));
  CHECK(world.run_until_idle(*client));
  CHECK(sizes->most <= 2048);
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::request_sizes_test
