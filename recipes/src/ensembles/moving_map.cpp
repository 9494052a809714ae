#include "custodian/ensembles/moving_map.hpp"

#include <algorithm>
#include <utility>

#include "custodian/authoring/argument_checks.hpp"
#include "custodian/authoring/uuid.hpp"
#include "ensembles/layout_rules.hpp"
#include "ensembles/map_follower.hpp"
#include "ensembles/map_publisher.hpp"

namespace custodian {

namespace recipes_detail {

namespace {

[[noreturn]] void refuse_moving_map(const std::string& detail) {
  throw Error{Errc::invalid_argument, "MovingMap", {}, detail};
}

std::vector<CopyPlacePtr> places_of(const MovingMap::Clients& clients, const std::string& path) {
  if (clients.empty()) refuse_moving_map("clients: there is none");
  const std::string member = make_uuid();
  std::vector<CopyPlacePtr> places;
  for (const auto& [name, client] : clients) {
    if (!is_ensemble_name(name)) refuse_moving_map("clients: a name is none of an ensemble");
    const auto twice = std::ranges::find_if(places, [&](const CopyPlacePtr& each) {
      return each->client.core() == client.get().core();
    });
    if (twice != places.end()) {
      refuse_moving_map("clients: " + (*twice)->name + " and " + name + " have the same client");
    }
    const std::int64_t epoch = client.get().fencing_epoch();
    if (epoch < 0 || epoch >> 32 != 0) {
      refuse_moving_map("clients: the fencing_epoch of " + name + " has more than 32 bits");
    }
    check_path(client.get().core(), "MovingMap", path);
    places.push_back(std::make_shared<const CopyPlace>(
        CopyPlace{.name = name, .client = client.get().share(), .path = path, .member = member}));
  }
  return places;
}

}  // namespace

void start_move_to(CorePtr, CancellationPtr cancellation, MapFollowerPtr follower,
                   EnsembleLayout layout, std::chrono::milliseconds look_every, Handler<> handler) {
  start_map_move(follower, std::move(cancellation), std::move(layout), look_every,
                 std::move(handler));
}

}  // namespace recipes_detail

MovingMap::MovingMap(const Clients& clients, MovingMapOptions options)
    : follower_{std::make_shared<recipes_detail::MapFollower>(
          recipes_detail::places_of(clients, options.path), options.announce_within)},
      look_every_{options.look_every} {
  follower_->start();
}

MovingMap::MovingMap(MovingMap&&) noexcept = default;

MovingMap& MovingMap::operator=(MovingMap&&) noexcept = default;

MovingMap::~MovingMap() = default;

CorePtr MovingMap::core() const { return follower_->home().core(); }

std::int64_t MovingMap::version() const {
  const auto view = follower_->view();
  return view ? view->version() : 0;
}

std::optional<EnsembleLayout> MovingMap::layout() const {
  const auto view = follower_->view();
  if (!view) return std::nullopt;
  return view->copy().generations.back();
}

std::vector<std::string> MovingMap::homes_of(std::string_view path) const {
  check_path(core(), "homes_of", path);
  const auto view = follower_->view();
  return view ? view->homes_of(path) : std::vector<std::string>{};
}

void MovingMap::move_to(EnsembleLayout layout, std::stop_token stop) {
  layout.check();
  for (const auto& each : follower_->places()) {
    // On a thread of any of the clients, the call would wait for itself.
    detail::require_may_block(*each->client.core(), "move_to", each->path);
  }
  block_or_throw<&recipes_detail::start_move_to>(core(), "move_to", {}, std::move(stop), follower_,
                                                 std::move(layout), look_every_);
}

}  // namespace custodian
