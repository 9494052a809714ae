#include "inspect/wait_graph.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <deque>
#include <optional>
#include <utility>

namespace custodian::recipes_detail {

WaitGraph::WaitGraph(const std::vector<ListedLock>& locks) {
  for (const ListedLock& lock : locks) {
    for (const Inspected& each : lock.contenders) ids_.push_back(each.participant.session);
  }
  std::ranges::sort(ids_);
  ids_.erase(std::ranges::unique(ids_).begin(), ids_.end());
  sessions_.resize(ids_.size());
  for (const ListedLock& lock : locks) {
    if (lock.kind != ListedKind::election) add(lock);
  }
}

WaitGraph::Index WaitGraph::index_of(std::int64_t session) const {
  return static_cast<Index>(std::ranges::lower_bound(ids_, session) - ids_.begin());
}

void WaitGraph::add(const ListedLock& lock) {
  Queue queue{.lock = &lock};
  const std::size_t number = queues_.size();
  for (const Inspected& each : lock.contenders) {
    const Index session = index_of(each.participant.session);
    const bool is_known =
        std::ranges::find(queue.holders, session, &Claimant::session) != queue.holders.end();
    if (each.standing != Standing::holds || is_known) continue;
    queue.holders.push_back({session, &each});
    sessions_[session].holds.push_back(number);
  }
  for (const Inspected& each : lock.contenders) {
    if (each.standing != Standing::waits) continue;
    const Index session = index_of(each.participant.session);
    // Threads of one process take turns: a session does not wait for itself.
    const auto others = static_cast<std::size_t>(std::ranges::count_if(
        queue.holders, [&](const Claimant& holder) { return holder.session != session; }));
    if (others == 0) continue;
    queue.waits.push_back(waits_.size());
    sessions_[session].waits.push_back(waits_.size());
    ++sessions_[session].open_waits;
    waits_.push_back({.waiter = {session, &each}, .queue = number, .stuck_holders = others});
  }
  queues_.push_back(std::move(queue));
}

std::vector<WaitCycle> WaitGraph::cycles() {
  let_proceed();
  const std::vector<std::size_t> component = components();
  std::vector<std::size_t> sizes(sessions_.size());
  for (const std::size_t each : component) ++sizes[each];
  std::vector<WaitCycle> found;
  for (Index session = 0; session != sessions_.size(); ++session) {
    std::size_t& size = sizes[component[session]];
    if (size < 2) continue;
    found.push_back({.waits = shortest_circle(session), .sessions = size});
    size = 0;  // The group has been reported.
  }
  return found;
}

void WaitGraph::let_proceed() {
  std::vector<Index> proceeding;
  for (Index session = 0; session != sessions_.size(); ++session) {
    if (!is_stuck(session)) proceeding.push_back(session);
  }
  while (!proceeding.empty()) {
    const Index session = proceeding.back();
    proceeding.pop_back();
    for (const std::size_t held : sessions_[session].holds) {
      const bool one_is_enough = queues_[held].lock->kind == ListedKind::semaphore;
      for (const std::size_t number : queues_[held].waits) {
        Wait& wait = waits_[number];
        if (wait.has_ended || wait.waiter.session == session) continue;
        --wait.stuck_holders;
        if (one_is_enough || wait.stuck_holders == 0) end(number, proceeding);
      }
    }
  }
}

void WaitGraph::end(std::size_t wait, std::vector<Index>& proceeding) {
  waits_[wait].has_ended = true;
  const Index session = waits_[wait].waiter.session;
  if (--sessions_[session].open_waits == 0) proceeding.push_back(session);
}

std::vector<WaitGraph::Step> WaitGraph::steps_from(Index session) const {
  std::vector<Step> steps;
  for (const std::size_t number : sessions_[session].waits) {
    if (waits_[number].has_ended) continue;
    for (const Claimant& holder : queues_[waits_[number].queue].holders) {
      if (holder.session != session && is_stuck(holder.session)) steps.push_back({number, holder});
    }
  }
  return steps;
}

std::vector<std::size_t> WaitGraph::components() const {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph{sessions_.size()};
  for (Index session = 0; session != sessions_.size(); ++session) {
    for (const Step& step : steps_from(session)) {
      boost::add_edge(session, step.holder.session, graph);
    }
  }
  std::vector<std::size_t> component(sessions_.size());
  if (component.empty()) return component;
  boost::strong_components(graph, boost::make_iterator_property_map(
                                      component.begin(), boost::get(boost::vertex_index, graph)));
  return component;
}

std::vector<CyclicWait> WaitGraph::shortest_circle(Index from) const {
  struct Arrival {
    Index before = 0;
    Step step{};
  };
  // Breadth first, until a path leads back to its beginning. There is such a path within the
  // component. A path that leaves the component never leads back.
  std::vector<std::optional<Arrival>> arrivals(sessions_.size());
  std::deque<Index> next{from};
  while (!arrivals[from]) {
    const Index session = next.front();
    next.pop_front();
    for (const Step& step : steps_from(session)) {
      const Index to = step.holder.session;
      if (arrivals[to]) continue;
      arrivals[to] = Arrival{session, step};
      next.push_back(to);
    }
  }
  std::vector<CyclicWait> circle;
  Index at = from;
  do {
    const auto& [before, step] = *arrivals[at];
    const Wait& wait = waits_[step.wait];
    circle.push_back({.wanted = queues_[wait.queue].lock->path,
                      .waiter = wait.waiter.contender->participant,
                      .holder = step.holder.contender->participant});
    at = before;
  } while (at != from);
  std::ranges::reverse(circle);
  return circle;
}

}  // namespace custodian::recipes_detail
