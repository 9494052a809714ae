#include "ensembles/map_follower.hpp"

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <random>
#include <utility>
#include <variant>

#include "async/backoff.hpp"
#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/spawn.hpp"
#include "ensembles/at_client.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// The version that a member announces when the process knows this one.
std::int64_t announced_for(const MapView& view) {
  return is_announced(view.phase()) ? view.version() : view.version() - 1;
}

std::chrono::milliseconds any_pause(std::chrono::milliseconds up_to) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  const std::chrono::milliseconds::rep least = 1;
  return std::chrono::milliseconds{
      std::uniform_int_distribution{least, std::max(least, up_to.count())}(random)};
}

}  // namespace

MapFollower::MapFollower(std::vector<CopyPlacePtr> places,
                         std::chrono::milliseconds announce_within)
    : places_{std::move(places)}, announce_within_{announce_within} {
  for (const CopyPlacePtr& each : places_) {
    parts_[each->name] = {.place = each,
                          .ends = std::make_shared<Cancellation>(each->client.core())};
  }
}

MapFollower::~MapFollower() {
  for (const auto& [name, part] : parts_) {
    part.ends->request();
    if (part.session != 0) leave_map(*part.place, part.session, part.announced);
  }
}

MapViewPtr MapFollower::view() const {
  const std::lock_guard lock{mutex_};
  return view_;
}

CopyPlacePtr MapFollower::place_of(const std::string& ensemble) const {
  const auto part = parts_.find(ensemble);
  return part == parts_.end() ? nullptr : part->second.place;
}

// -- Following the copies -------------------------------------------------------------------------

void MapFollower::start() {
  for (const auto& [name, part] : parts_) {
    const CorePtr core = part.place->client.core();
    if (detail::is_forked(*core)) return;
    spawn(core, "following the map at " + name,
          follow(weak_from_this(), part.place, home().get_executor(), part.ends));
  }
}

/// Reads the copy, and waits for its next change, on the strand of its ensemble's client.
asio::awaitable<void> MapFollower::follow(std::weak_ptr<MapFollower> follower, CopyPlacePtr place,
                                          asio::any_io_executor home,
                                          CancellationPtr cancellation) {
  const CorePtr core = place->client.core();
  const std::string path = place->path;
  const OperationOptions limits;
  for (int failures = 0;;) {
    error_code error;
    Watch watch;
    auto seen = co_await read_data(core, cancellation, path, limits, Watching::yes);
    if (seen) {
      watch = std::move(seen->watch);
      auto decoded = decode_copy(seen->value.data);
      if (const auto* const fault = std::get_if<LayoutFault>(&decoded)) {
        place->client.log(LogLevel::error,
                          path + " of the ensemble " + place->name + " is no map: " + fault->text);
      } else {
        asio::post(home, [follower, name = place->name,
                          copy = std::get<MapCopy>(std::move(decoded))]() mutable {
          if (const auto alive = follower.lock()) {
            alive->learn(alive->part_of(name), std::move(copy));
          }
        });
      }
    } else if (seen.error() == ServerErrc::no_node) {
      auto missing = co_await read_existence(core, cancellation, path, limits, Watching::yes);
      if (missing && missing->value) continue;
      if (missing) watch = std::move(missing->watch);
      if (!missing) error = missing.error();
    } else {
      error = seen.error();
    }
    if (!error) {
      failures = 0;
      error = co_await until_changed(core, cancellation, watch);
    } else {
      co_await back_off(place->client, failures++, Deadline::never(), cancellation);
    }
    if (cancellation->requested() || place->client.unusable()) break;
  }
  asio::post(home, [follower] {
    if (const auto alive = follower.lock()) alive->notify_claims();
  });
}

void MapFollower::learn(Part& part, MapCopy copy) {
  const MapViewPtr known = view();
  if (known && copy.version > known->version() && !continues(copy, known->copy())) {
    part.place->client.log(LogLevel::error, part.place->path + " of the ensemble " +
                                                part.place->name + " is of another map");
    return;
  }
  part.copy_version = std::max(part.copy_version, copy.version);
  if (!known || copy.version > known->version()) {
    auto view = std::make_shared<const MapView>(std::move(copy));
    {
      const std::lock_guard lock{mutex_};
      view_ = std::move(view);
    }
    notify_claims();
  }
  announce_what_is_due();
}

void MapFollower::notify_claims() {
  // The loop runs over a copy: a claim that ends removes itself.
  const std::vector<MapClaim*> all{claims_.begin(), claims_.end()};
  for (MapClaim* const each : all) {
    if (claims_.contains(each)) each->on_map();
  }
}

asio::awaitable<Result<std::int64_t>> MapFollower::read_version(std::string ensemble,
                                                                CancellationPtr cancellation,
                                                                OperationOptions limits) {
  const auto self = shared_from_this();
  Part& part = part_of(ensemble);
  const asio::any_io_executor strand = home().get_executor();
  const CorePtr there = part.place->client.core();
  const ForwardedCancellation forwarded{cancellation, there};
  auto reading = read_copy(part.place, forwarded.there(), limits);
  std::string what = "reading the map at " + ensemble;
  Result<CopyRead> read = co_await at_client(strand, there, std::move(what), std::move(reading));
  if (!read) co_return failed<std::int64_t>(read.error());
  if (!read->copy) co_return std::int64_t{0};
  const std::int64_t version = read->copy->version;
  self->learn(part, std::move(*read->copy));
  co_return version;
}

// -- Members --------------------------------------------------------------------------------------

bool MapFollower::is_member(const std::string& ensemble) const {
  const Part& part = parts_.at(ensemble);
  return part.session != 0 && part.session == part.place->client.session().id;
}

error_code MapFollower::joining_failed(const std::string& ensemble) const {
  return parts_.at(ensemble).join_failure;
}

void MapFollower::start_joining(const std::string& ensemble) {
  Part& part = part_of(ensemble);
  if (std::exchange(part.joins, true)) return;
  part.join_failure = {};
  const MapViewPtr known = view();
  const CorePtr there = part.place->client.core();
  spawn(there, "joining the map at " + ensemble,
        join_map(part.place, known ? known->version() : 0, part.ends),
        [weak = weak_from_this(), home = home().get_executor(), place = part.place](
            error_code error, Membership joined) {
          asio::dispatch(home, [weak, place, error, joined = std::move(joined)]() mutable {
            const auto alive = weak.lock();
            if (alive)
              return alive->on_joined(alive->part_of(place->name), error, std::move(joined));
            if (!error) leave_map(*place, joined.session, joined.version);
          });
        });
}

void MapFollower::on_joined(Part& part, error_code error, Membership joined) {
  part.joins = false;
  part.join_failure = error;
  if (!error) {
    part.session = joined.session;
    part.announced = joined.version;
    learn(part, std::move(joined.copy));
  }
  notify_claims();
}

// -- Announcing -----------------------------------------------------------------------------------

bool MapFollower::owes_announcement(const Part& part) const {
  const MapViewPtr known = view();
  if (!known || part.session == 0) return false;
  const std::int64_t due = announced_for(*known);
  return part.announced < due && part.copy_version >= due;
}

/// A claim that keeps the known version from being announced; null if there is none.
const MapClaim* MapFollower::in_the_way() const {
  const MapViewPtr known = view();
  const auto found = std::ranges::find_if(claims_, [&](const MapClaim* each) {
    return !lets_announce(known->phase(), known->homes_of(each->path()), each->state());
  });
  return found == claims_.end() ? nullptr : *found;
}

void MapFollower::announce_what_is_due() {
  for (auto& [name, part] : parts_) {
    if (part.announces || !owes_announcement(part)) continue;
    part.announces = true;
    spawn(home().core(), "announcing the map at " + name, announce_at(name));
  }
}

/// Announces the version that is due for the member at one ensemble. All clients see a version at
/// the same time, so each announcement is preceded by a random pause.
asio::awaitable<void> MapFollower::announce_at(std::string ensemble) {
  const std::weak_ptr<MapFollower> weak = weak_from_this();
  const Client home_client = home().share();
  const CancellationPtr ends = parts_.begin()->second.ends;
  const std::chrono::milliseconds within = announce_within_;
  constexpr int rounds_before_a_word = 10;
  int waits = 0;
  std::int64_t warned_of = 0;
  for (;;) {
    const std::chrono::milliseconds pause = any_pause(within);
    co_await pause_for(home_client, pause, Deadline::never(), ends);
    const auto self = weak.lock();
    if (!self || home_client.unusable()) co_return;
    Part& part = self->part_of(ensemble);
    if (part.place->client.unusable()) co_return;
    if (!owes_announcement(part)) {
      part.announces = false;
      co_return;
    }
    if (const MapClaim* const claim = in_the_way()) {
      if (++waits == rounds_before_a_word) {
        home_client.log(LogLevel::warning, claim->path() + " keeps a move of the map waiting: " +
                                               "its lock cannot be taken at its new home yet");
      }
      continue;
    }
    const std::int64_t version = announced_for(*view());
    const asio::any_io_executor strand = home_client.get_executor();
    const CorePtr there = part.place->client.core();
    auto announcing = announce(part.place, part.session, part.announced, version, part.ends);
    std::string what = "announcing the map at " + part.place->name;
    const std::int64_t session = part.session;
    const auto announced =
        co_await at_client(strand, there, std::move(what), std::move(announcing));
    const bool is_at_end = announced.error() == asio::error::operation_aborted;
    if (!announced && !is_at_end && std::exchange(warned_of, version) != version) {
      home_client.log(LogLevel::warning, "the map's version cannot be announced at " +
                                             part.place->name + ": " + announced.error().message());
    }
    if (!announced || part.session != session) continue;
    if (*announced == Announced::yes) part.announced = version;
    if (*announced == Announced::session_lost) part.session = 0;
  }
}

}  // namespace custodian::recipes_detail
