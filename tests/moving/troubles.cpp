#include "moving/troubles.hpp"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <ranges>
#include <utility>
#include <vector>

#include "moving/lines.hpp"

namespace custodian::tests::moving {

using namespace std::chrono_literals;

void Troubles::plan_next(std::chrono::milliseconds delay) {
  const auto kind = static_cast<Trouble>(next_++ % kinds_of_trouble);
  after(delay, [this, kind] { begin(kind); });
}

void Troubles::plan_end_of_mover(std::chrono::milliseconds delay, int step) {
  after(delay, [this, step] { kill_mover(step); });
}

void Troubles::tick() {
  while (!due_.empty() && due_.begin()->first <= Clock::now()) {
    const auto action = due_.extract(due_.begin());
    action.mapped()();
  }
}

bool Troubles::is_over() {
  return due_.empty() && std::ranges::all_of(scene_.clusters(), [](const auto& each) {
           const auto members = std::views::iota(std::size_t{0}, each.second->size());
           return std::ranges::all_of(
               members, [&](std::size_t member) { return each.second->is_serving(member); });
         });
}

void Troubles::begin(Trouble kind) {
  switch (kind) {
    case Trouble::kill_worker: return kill_worker();
    case Trouble::short_cut: return cut_any(scene_.session_timeout() / 5);
    case Trouble::long_cut: return cut_any(past_session_timeout());
    case Trouble::stop_worker: return stop_worker();
    case Trouble::kill_server: return kill_server();
  }
}

void Troubles::kill_worker() {
  Place* const place = any_free_worker();
  if (place == nullptr) return;
  scene_.kill(*place);
  ++kills;
  place->is_free = false;
  after(500ms, [this, place] {
    scene_.start_worker(*place);
    place->is_free = true;
  });
}

void Troubles::kill_mover(int step) {
  Place& mover = scene_.mover();
  if (mover.process.empty() || scene_.has_moved(step)) return;
  scene_.kill(mover);
  ++kills;
  after(200ms, [this, step] { scene_.start_move(step); });
}

void Troubles::cut_any(std::chrono::milliseconds length) {
  Place* place = any_free_worker();
  if (place == nullptr || random_() % 5 == 0) place = &scene_.mover();
  if (place->is_free) cut(*place, random_() % 2 == 0 ? "east" : "west", length);
}

void Troubles::cut_off(Place& place, const std::string& ensemble) {
  cut(place, ensemble, past_session_timeout() + scene_.session_timeout() / 2);
}

void Troubles::cut(Place& place, const std::string& ensemble, std::chrono::milliseconds length) {
  auto& lines = place.lines.at(ensemble);
  const auto manner = random_() % 3;
  for (testing::FaultProxy& line : lines) {
    if (manner == 0) line.hold_back();
    if (manner == 1) line.black_hole();
    if (manner == 2) {
      line.refuse();
      line.cut(testing::Ending::reset);
    }
  }
  ++cuts;
  place.is_free = false;
  after(length, [&place, &lines] {
    for (testing::FaultProxy& line : lines) line.heal();
    place.is_free = true;
  });
}

void Troubles::stop_worker() {
  Place* const place = any_free_worker();
  if (place == nullptr) return;
  scene_.signal(*place, SIGSTOP);
  ++stops;
  place->is_free = false;
  after(past_session_timeout(), [this, place] {
    scene_.signal(*place, SIGCONT);
    free_later(*place, now());
  });
}

/// If the process were killed before it has reported its losses, it would seem to have held those
/// paths until then.
void Troubles::free_later(Place& place, std::int64_t went_on) {
  after(1s, [this, &place, went_on] {
    place.is_free = !scene_.judge().holds_since_before(place.process, went_on);
    if (!place.is_free) free_later(place, went_on);
  });
}

void Troubles::kill_server() {
  auto& clusters = scene_.clusters();
  testing::TestingCluster& cluster =
      *std::next(clusters.begin(), static_cast<int>(random_() % 2))->second;
  for (std::size_t member = 0; member < cluster.size(); ++member) {
    if (!cluster.is_serving(member)) return;
  }
  const std::size_t member = random_() % cluster.size();
  cluster.kill(member);
  ++server_kills;
  after(1s, [&cluster, member] { cluster.start(member); });
}

void Troubles::after(std::chrono::milliseconds delay, std::function<void()> action) {
  due_.emplace(Clock::now() + delay, std::move(action));
}

Place* Troubles::any_free_worker() {
  std::vector<Place*> free;
  for (Place& each : scene_.workers()) {
    if (each.is_free) free.push_back(&each);
  }
  return free.empty() ? nullptr : free[random_() % free.size()];
}

std::chrono::milliseconds Troubles::past_session_timeout() const {
  return scene_.session_timeout() * 9 / 8 + 2 * scene_.tick();
}

}  // namespace custodian::tests::moving
