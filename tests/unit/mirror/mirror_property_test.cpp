// A mirror tree through thousands of random histories: nodes come and go, connections break,
// sessions are lost, requests are answered in any order, watches are given up. At each step every
// fact is covered and the changes give the tree; at each rest the mirror equals the server's tree.

#include <random>

#include "support/catch.hpp"
#include "unit/mirror/mirror_player.hpp"

namespace custodian::tests::mirror_property_test {
namespace {

enum class Weather {
  calm,     ///< one connection, messages in order
  stormy,   ///< connections break, sessions are lost, watches are given up
  disorder  ///< requests are answered in any order, as after pauses between retries
};

class History {
 public:
  History(std::uint64_t seed, Weather weather)
      : random_{seed}, weather_{weather}, player_{options(), pick(3) == 0 ? "/" : "/m"} {
    if (pick(2) == 0) {
      for (int i = pick(12); i > 0; --i) mutate();
    }
  }

  /// Returns the first rule that was broken; nothing if all went well.
  std::string run() {
    player_.connect();
    for (int rest = 0; rest < 3; ++rest) {
      for (int step = 0; step < 40 && player_.violation.empty(); ++step) do_something();
      if (!connected_) connect();
      player_.settle();
      if (!player_.violation.empty()) return player_.violation;
      if (std::string difference = player_.difference(); !difference.empty()) return difference;
    }
    if (weather_ == Weather::calm && player_.reads > 2 + 4 * player_.server.changes()) {
      return std::to_string(player_.reads) + " reads for " +
             std::to_string(player_.server.changes()) + " changes";
    }
    return {};
  }

 private:
  [[nodiscard]] int pick(int below) {
    return std::uniform_int_distribution<int>{0, below - 1}(random_);
  }
  [[nodiscard]] MirrorOptions options() {
    MirrorOptions options;
    if (pick(3) == 0) options.depth = static_cast<std::size_t>(pick(3));
    if (pick(3) == 0) options.data = MirrorData::not_kept;
    if (pick(3) == 0) options.accept = [](std::string_view path) { return !path.ends_with('x'); };
    return options;
  }

  void do_something() {
    const int what = pick(20);
    if (what < 6) return mutate();
    if (what < 10) return player_.send_reads();
    if (what < 14 && !player_.requests.empty()) {
      const auto count = static_cast<int>(player_.requests.size());
      return player_.serve(weather_ == Weather::disorder ? pick(count) : 0);
    }
    if (what < 18 && !player_.server.messages.empty()) return player_.deliver();
    if (weather_ != Weather::stormy) return;
    if (!connected_) return connect();
    if (what == 18) return player_.reconnect(static_cast<std::size_t>(pick(4)));
    if (pick(3) != 0) return;
    connected_ = false;
    player_.lose_session();
  }
  void connect() {
    connected_ = true;
    player_.connect();
  }
  /// Changes a node of a small tree: /m, /m/a, /m/b, ..., /m/a/a, ...
  void mutate() {
    SimulatedServer& server = player_.server;
    std::string path = "/m";
    for (int level = pick(4); level > 0; --level) {
      if (!server.exists(path)) break;
      path += std::string{"/"} + "abx"[pick(3)];
    }
    if (!server.exists(path)) {
      if (server.at(std::string{parent_of(path)}).stat.ephemeral_owner > 0) return;
      constexpr std::int64_t container = std::numeric_limits<std::int64_t>::min();
      const std::int64_t owners[] = {0, 0, 7, container};
      return server.create(path, std::to_string(pick(3)), owners[pick(4)]);
    }
    const int what = pick(6);
    if (what < 3) return server.set(path, std::to_string(pick(3)));
    if (what == 5) return server.replace(path, "0");
    server.remove(path);
  }

  std::mt19937_64 random_;
  const Weather weather_;
  MirrorPlayer player_;
  bool connected_ = true;
};

void play(Weather weather) {
  constexpr std::uint64_t histories = 4000;
  for (std::uint64_t seed = 1; seed <= histories; ++seed) {
    const std::string violation = History{seed, weather}.run();
    INFO("seed " << seed);
    REQUIRE(violation == "");
  }
}

TEST_CASE("a mirror follows every history of a tree on one connection") { play(Weather::calm); }

TEST_CASE("a mirror follows every history through lost connections and sessions") {
  play(Weather::stormy);
}

TEST_CASE("a mirror follows every history though requests overtake each other") {
  play(Weather::disorder);
}

}  // namespace
}  // namespace custodian::tests::mirror_property_test
