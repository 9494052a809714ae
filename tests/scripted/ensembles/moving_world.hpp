#pragma once

/// \file
/// Two ensembles with a moving map, and the processes on it, for its tests.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ensembles/map_follower.hpp"
#include "ensembles/map_publisher.hpp"
#include "scripted/ensembles/two_ensembles.hpp"

namespace custodian::tests::moving_world {

using namespace two_ensembles;
using recipes_detail::ClaimPhase;
using recipes_detail::ClaimState;
using recipes_detail::MapCopy;

inline constexpr auto copy_path = "/custodian/map";
inline constexpr std::array<const char*, 2> names{"east", "west"};
/// The path that moves.
inline constexpr auto moving_path = "/moves";

/// A layout with both ensembles, in which the path's home is this one.
[[nodiscard]] inline EnsembleLayout layout_at(std::size_t home) {
  EnsembleLayout layout{.ensembles = {{"east", 1}, {"west", 1}}};
  layout.pins[moving_path] = names.at(home);
  return layout;
}

[[nodiscard]] inline std::optional<MapCopy> copy_at(const Ensembles& ensembles, std::size_t at) {
  const Reply reply = ensembles.all.at(at)->operate(request::Get{copy_path});
  if (reply.error) return std::nullopt;
  auto read = recipes_detail::decode_copy(reply.data);
  if (std::holds_alternative<MapCopy>(read)) return std::get<MapCopy>(std::move(read));
  return std::nullopt;
}

/// The members' names at an ensemble, by the version that they have announced.
[[nodiscard]] inline std::set<std::pair<std::int64_t, std::string>> members_at(
    const Ensembles& ensembles, std::size_t at) {
  std::set<std::pair<std::int64_t, std::string>> members;
  const std::string all = std::string{copy_path} + "/members";
  const std::string prefix = all + "/";
  for (const std::string& version : ensembles.all.at(at)->children(all)) {
    for (const std::string& each : ensembles.all.at(at)->children(prefix + version)) {
      members.emplace(std::stoll(version), each);
    }
  }
  return members;
}

/// The fault in the present copies and members, in words; empty if there is none.
[[nodiscard]] inline std::string fault_of(const Ensembles& ensembles) {
  std::int64_t newest = 0;
  std::int64_t oldest = 0;
  for (std::size_t at = 0; at < 2; ++at) {
    const auto copy = copy_at(ensembles, at);
    const std::int64_t version = copy ? copy->version : 0;
    newest = std::max(newest, version);
    oldest = at == 0 ? version : std::min(oldest, version);
  }
  if (oldest > 0 && newest > oldest + 1) return "copies are two versions apart";
  // *Turned* is not announced.
  const std::int64_t least = newest % 3 == 0 ? newest - 2 : newest - 1;
  for (std::size_t at = 0; at < 2 && newest > 3; ++at) {
    const auto members = members_at(ensembles, at);
    if (!members.empty() && members.begin()->first < least) {
      return "a member has announced " + std::to_string(members.begin()->first) +
             " only, and a copy has " + std::to_string(newest);
    }
  }
  return {};
}

/// Writes a copy, as a publisher would.
inline void write_copy_at(const Ensembles& ensembles, std::size_t at, const MapCopy& copy) {
  testing::FakeEnsemble& ensemble = *ensembles.all.at(at);
  const std::string folder = std::string{copy_path} + "/members/" + std::to_string(copy.version);
  ensemble.operate(request::Create{.path = folder, .acl = open_acl()});
  ensemble.operate(request::Set{.path = copy_path, .data = recipes_detail::encode(copy)});
}

/// Makes the nodes of a map on both ensembles, as they are after its first publication; the path's
/// home is east.
inline void make_map(Ensembles& ensembles) {
  MapCopy copy{.generations = {layout_at(0)}};
  copy.generations.front().version = 1;
  for (std::size_t at = 0; at < 2; ++at) {
    ensembles.make(at, "/custodian", {});
    ensembles.make(at, copy_path, recipes_detail::encode(copy));
    ensembles.make(at, std::string{copy_path} + "/members", {});
    ensembles.make(at, std::string{copy_path} + "/members/3", {});
  }
}

/// The next copy. If it has a new generation, the path's home there is `home`.
[[nodiscard]] inline MapCopy copy_after(MapCopy copy, std::size_t home) {
  ++copy.version;
  if (recipes_detail::phase_of(copy.version) == recipes_detail::MapPhase::moving) {
    copy.generations.push_back(layout_at(home));
    copy.generations.back().version = recipes_detail::last_generation_of(copy.version);
  }
  return copy;
}

/// Publishes versions by hand, at both ensembles, up to this one.
inline void publish_by_hand(const Ensembles& ensembles, std::int64_t version, std::size_t home) {
  for (;;) {
    const auto copy = copy_at(ensembles, 0);
    if (!copy || copy->version >= version) return;
    for (std::size_t at = 0; at < 2; ++at) write_copy_at(ensembles, at, copy_after(*copy, home));
  }
}

/// A process with a client of each ensemble, `name`-east and `name`-west.
struct MapProcess {
  MapProcess(Ensembles& ensembles, const std::string& name)
      : east{ensembles.client(0, name + "-east")}, west{ensembles.client(1, name + "-west")} {
    std::vector<recipes_detail::CopyPlacePtr> places;
    for (std::size_t at = 0; at < 2; ++at) {
      const Client& client = at == 0 ? *east : *west;
      places.push_back(std::make_shared<const recipes_detail::CopyPlace>(recipes_detail::CopyPlace{
          .name = names.at(at), .client = client.share(), .path = copy_path, .member = name}));
    }
    follower = std::make_shared<recipes_detail::MapFollower>(std::move(places),
                                                             std::chrono::milliseconds{1});
    follower->start();
  }

  void move_to(const EnsembleLayout& layout, Handler<> handler,
               CancellationPtr cancellation = nullptr) const {
    recipes_detail::start_map_move(follower, std::move(cancellation), layout,
                                   std::chrono::milliseconds{1}, std::move(handler));
  }

  /// Ends both clients. Returns false if something keeps one alive.
  bool end(Ensembles& ensembles) {
    follower.reset();
    const bool is_idle =
        ensembles.world.run_until_idle(*east) && ensembles.world.run_until_idle(*west);
    return ensembles.world.end(east) && ensembles.world.end(west) && is_idle;
  }

  std::unique_ptr<Client> east;
  std::unique_ptr<Client> west;
  recipes_detail::MapFollowerPtr follower;
};

/// A claim whose state the test sets.
class FakeClaim final : public recipes_detail::MapClaim {
 public:
  explicit FakeClaim(const MapProcess& process) : follower_{process.follower} {
    follower_->add(*this);
  }
  FakeClaim(const FakeClaim&) = delete;
  FakeClaim& operator=(const FakeClaim&) = delete;
  ~FakeClaim() override { follower_->remove(*this); }

  [[nodiscard]] const std::string& path() const noexcept override { return path_; }
  [[nodiscard]] ClaimState state() const override { return now; }
  void on_map() override { ++changes; }

  ClaimState now{};
  int changes = 0;

 private:
  const recipes_detail::MapFollowerPtr follower_;
  const std::string path_ = moving_path;
};

}  // namespace custodian::tests::moving_world
