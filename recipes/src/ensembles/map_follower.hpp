#pragma once

/// \file
/// MapFollower is a process' part in a moving map: it follows the copies, makes its sessions
/// members, and announces versions. docs/moving-map.md has the protocol.

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "ensembles/claim_rules.hpp"
#include "ensembles/copy_requests.hpp"
#include "ensembles/map_view.hpp"

namespace custodian::recipes_detail {

/// An acquire or a hold of a path on the map. Used on the home strand.
class MapClaim {
 public:
  MapClaim() = default;
  MapClaim(const MapClaim&) = delete;
  MapClaim& operator=(const MapClaim&) = delete;
  virtual ~MapClaim() = default;

  [[nodiscard]] virtual const std::string& path() const noexcept = 0;
  [[nodiscard]] virtual ClaimState state() const = 0;
  /// Called when the map, or the process' part in it, has changed.
  virtual void on_map() = 0;
};

/// Used on the home strand, that of the first ensemble's client, except where a comment says
/// otherwise.
class MapFollower : public std::enable_shared_from_this<MapFollower> {
 public:
  /// `places` must not be empty. start() begins to follow the copies.
  MapFollower(std::vector<CopyPlacePtr> places, std::chrono::milliseconds announce_within);
  MapFollower(const MapFollower&) = delete;
  MapFollower& operator=(const MapFollower&) = delete;
  /// Ends what start() has begun, and removes the members. Any thread.
  ~MapFollower();

  // Any thread.
  void start();
  /// The newest version that was read; null before the first.
  [[nodiscard]] MapViewPtr view() const;
  [[nodiscard]] const Client& home() const noexcept { return places_.front()->client; }
  [[nodiscard]] const std::vector<CopyPlacePtr>& places() const noexcept { return places_; }
  /// Null if the process has no client of this ensemble.
  [[nodiscard]] CopyPlacePtr place_of(const std::string& ensemble) const;

  void add(MapClaim& claim) { claims_.insert(&claim); }
  void remove(MapClaim& claim) { claims_.erase(&claim); }

  /// Whether the present session of this ensemble's client is a member.
  [[nodiscard]] bool is_member(const std::string& ensemble) const;
  /// Makes the present session of this ensemble's client a member. All claims are notified by
  /// on_map() when the join ends. Does nothing while a join is under way.
  void start_joining(const std::string& ensemble);
  /// The error with which the last join ended; no error if it succeeded or is under way.
  [[nodiscard]] error_code joining_failed(const std::string& ensemble) const;
  /// Reads this ensemble's copy in its client's present session, and learns from it. Returns the
  /// copy's version, or 0 if there is no copy.
  [[nodiscard]] boost::asio::awaitable<Result<std::int64_t>> read_version(
      std::string ensemble, CancellationPtr cancellation, OperationOptions limits);

 private:
  /// The process' part at one ensemble.
  struct Part {
    CopyPlacePtr place;
    CancellationPtr ends{};         ///< ends what runs on this client's strand
    std::int64_t copy_version = 0;  ///< the newest version of this copy that was read
    std::int64_t session = 0;       ///< the member's session; 0 if there is no member
    std::int64_t announced = 0;     ///< the version that the member has announced
    bool joins = false;
    error_code join_failure{};
    bool announces = false;
  };

  static boost::asio::awaitable<void> follow(std::weak_ptr<MapFollower> follower,
                                             CopyPlacePtr place, boost::asio::any_io_executor home,
                                             CancellationPtr cancellation);
  boost::asio::awaitable<void> announce_at(std::string ensemble);

  [[nodiscard]] Part& part_of(const std::string& ensemble) { return parts_.at(ensemble); }
  void learn(Part& part, MapCopy copy);
  void on_joined(Part& part, error_code error, Membership joined);
  void announce_what_is_due();
  [[nodiscard]] bool owes_announcement(const Part& part) const;
  [[nodiscard]] const MapClaim* in_the_way() const;
  void notify_claims();

  const std::vector<CopyPlacePtr> places_;
  const std::chrono::milliseconds announce_within_;
  std::map<std::string, Part> parts_;
  std::set<MapClaim*> claims_;

  mutable std::mutex mutex_;  ///< guards what follows
  MapViewPtr view_;
};

using MapFollowerPtr = std::shared_ptr<MapFollower>;

}  // namespace custodian::recipes_detail
