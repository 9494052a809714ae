/// \file
/// 1. Read all copies. The lowest version is v; the next one is v + 1.
/// 2. Then look, in the sessions of these reads, whether all members have announced v.
/// 3. Create the folders of v + 1, and write v + 1 into every copy that is at v, unless the copy
///    has changed.
/// 4. Begin again, until all copies are stable and have had the layout.
///
/// Several publishers at once do no harm, nor does a publisher that ends at any point: each step
/// depends only on what was read, and replaces only what has not changed since.

#include "ensembles/map_publisher.hpp"

#include <boost/asio/error.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "async/backoff.hpp"
#include "custodian/authoring/spawn.hpp"
#include "ensembles/at_client.hpp"
#include "ensembles/publish_rules.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

using CopyReads = std::map<std::string, CopyRead>;

/// The state of a publisher. Used on the home strand.
struct MapMove {
  MapFollowerPtr follower;
  CancellationPtr cancellation;
  EnsembleLayout layout;
  std::chrono::milliseconds look_every;
  /// The layout is looked for in the generations from this one on; 0 before the first read.
  std::int64_t since = 0;

  [[nodiscard]] std::optional<CopyPlacePtr> place_of(const std::string& ensemble) const {
    CopyPlacePtr place = follower->place_of(ensemble);
    if (place) return place;
    follower->home().log(LogLevel::error,
                         "moving the map: there is no client of the ensemble " + ensemble);
    return std::nullopt;
  }
};
using MapMovePtr = std::shared_ptr<MapMove>;

/// Runs a request at one ensemble.
template <typename T, typename Request>
asio::awaitable<Result<T>> request_at(MapMovePtr move, std::string ensemble, Request request) {
  const auto place = move->place_of(ensemble);
  if (!place) co_return Result<T>{boost::system::in_place_error, Errc::invalid_argument};
  const asio::any_io_executor home = move->follower->home().get_executor();
  const CorePtr there = (*place)->client.core();
  const ForwardedCancellation forwarded{move->cancellation, there};
  std::string what = "moving the map at " + ensemble;
  asio::awaitable<Result<T>> work = request(*place, forwarded.there());
  co_return co_await at_client<T>(home, there, std::move(what), std::move(work));
}

asio::awaitable<Result<CopyRead>> read_at(MapMovePtr move, std::string ensemble) {
  const auto request = [](const CopyPlacePtr& place, const CancellationPtr& cancellation) {
    return read_copy(place, cancellation);
  };
  co_return co_await request_at<CopyRead>(move, ensemble, request);
}

/// The ensembles that are read first: those of the known version, or all if no version is known.
std::set<std::string> known_ensembles(const MapMove& move) {
  std::set<std::string> names;
  if (const MapViewPtr view = move.follower->view()) {
    names = concerned_by(view->copy());
  } else {
    for (const CopyPlacePtr& each : move.follower->places()) names.insert(each->name);
  }
  for (const auto& [name, weight] : move.layout.ensembles) names.insert(name);
  return names;
}

MapCopies copies_of(const CopyReads& reads) {
  MapCopies copies;
  for (const auto& [name, read] : reads) copies[name] = read.copy;
  return copies;
}

/// Step 1: the copies of all ensembles that the newest of them concerns.
asio::awaitable<Result<CopyReads>> read_copies(MapMovePtr move) {
  CopyReads reads;
  for (std::set<std::string> unread = known_ensembles(*move); !unread.empty();) {
    for (const std::string& each : unread) {
      Result<CopyRead> read = co_await read_at(move, each);
      if (!read) co_return read.error();
      reads[each] = std::move(*read);
    }
    unread.clear();
    const MapCopies copies = copies_of(reads);
    const MapCopy* const newest = newest_of(copies);
    if (newest == nullptr) break;
    for (const std::string& each : concerned_by(*newest)) {
      if (!reads.contains(each)) unread.insert(each);
    }
  }
  co_return reads;
}

/// Step 2: whether all members have announced the version before.
asio::awaitable<Result<MemberLook>> look_at_all_members(MapMovePtr move, Publication publication,
                                                        CopyReads reads) {
  const std::int64_t version = publication.next.version - 1;
  for (const std::string& each : publication.asked) {
    const std::int64_t session = reads[each].session;
    const auto request = [version, session](const CopyPlacePtr& place,
                                            const CancellationPtr& cancellation) {
      return look_at_members(place, version, session, cancellation);
    };
    Result<MemberLook> members = co_await request_at<MemberLook>(move, each, request);
    if (!members || *members == MemberLook::behind) co_return members;
  }
  co_return MemberLook::all_announced;
}

/// Step 3: writes the version. An ensemble without a copy gets the folder together with the copy.
asio::awaitable<Result<RequestDone>> publish(MapMovePtr move, Publication publication,
                                             CopyReads reads) {
  const MapCopy& next = publication.next;
  for (const std::string& each : publication.targets) {
    if (!reads[each].copy) continue;
    const auto request = [&next](const CopyPlacePtr& place, const CancellationPtr& cancellation) {
      return make_folder(place, next.version, cancellation);
    };
    const Result<RequestDone> made = co_await request_at<RequestDone>(move, each, request);
    if (!made) co_return made;
  }
  for (const std::string& each : publication.targets) {
    const CopyRead& read = reads[each];
    const auto request = [&](const CopyPlacePtr& place, const CancellationPtr& cancellation) {
      return write_copy(place, read, next, cancellation);
    };
    const Result<RequestDone> written = co_await request_at<RequestDone>(move, each, request);
    if (!written) co_return written;
  }
  co_return RequestDone{};
}

/// Removes the folders of the move before. When the map is turned, no member joins or announces
/// below *moving* any more, so these folders are empty.
asio::awaitable<void> tidy(MapMovePtr move, Publication publication) {
  if (phase_of(publication.next.version) != MapPhase::turned) co_return;
  const std::int64_t moving = publication.next.version - 1;
  for (const std::string& each : publication.targets) {
    for (std::int64_t version = moving - 3; version < moving; ++version) {
      const auto request = [version](const CopyPlacePtr& place,
                                     const CancellationPtr& cancellation) {
        return remove_folder(place, version, cancellation);
      };
      co_await request_at<RequestDone>(move, each, request);
    }
  }
}

enum class StepEnd {
  reached,    ///< all copies are stable, and have had the layout
  published,  ///< a version was written
  waits,      ///< a member has not announced yet
};

asio::awaitable<Result<StepEnd>> take_step(MapMovePtr move) {
  Result<CopyReads> reads = co_await read_copies(move);
  if (!reads) co_return reads.error();
  const MapCopies copies = copies_of(*reads);
  const MapCopy* const newest = newest_of(copies);
  if (move->since == 0) {
    move->since = newest == nullptr ? 1 : static_cast<std::int64_t>(newest->generations.size());
  }
  const bool is_reached = newest != nullptr && has_been(*newest, move->layout, move->since);
  const auto target = is_reached ? std::nullopt : std::optional{move->layout};
  auto next = next_publication(copies, target);
  if (std::holds_alternative<MapAtRest>(next)) co_return StepEnd::reached;
  if (const auto* const fault = std::get_if<MapFault>(&next)) {
    move->follower->home().log(LogLevel::error, "moving the map: " + fault->text);
    co_return Errc::invalid_argument;
  }
  const Publication publication = std::get<Publication>(std::move(next));
  const CopyReads& all = *reads;
  const Result<MemberLook> members = co_await look_at_all_members(move, publication, all);
  if (!members) co_return members.error();
  if (*members == MemberLook::behind) co_return StepEnd::waits;
  const Result<RequestDone> published = co_await publish(move, publication, all);
  if (!published) co_return published.error();
  co_await tidy(move, publication);
  co_return StepEnd::published;
}

asio::awaitable<Result<void>> move_map(MapMovePtr move) {
  const Client home = move->follower->home().share();
  for (int failures = 0;;) {
    const Result<StepEnd> end = co_await take_step(move);
    if (end && *end == StepEnd::reached) co_return Result<void>{};
    if (!end && !is_passing(end.error())) co_return end.error();
    if (!end) {
      co_await back_off(home, failures++, Deadline::never(), move->cancellation);
    } else {
      failures = 0;
      if (*end == StepEnd::waits) {
        co_await pause_for(home, move->look_every, Deadline::never(), move->cancellation);
      }
    }
    if (move->cancellation && move->cancellation->requested()) {
      co_return error_code{asio::error::operation_aborted};
    }
    if (const error_code closed = home.unusable()) co_return closed;
  }
}

}  // namespace

void start_map_move(const MapFollowerPtr& follower, CancellationPtr cancellation,
                    EnsembleLayout layout, std::chrono::milliseconds look_every,
                    Handler<> handler) {
  if (const error_code unusable = follower->home().unusable()) return std::move(handler)(unusable);
  const auto move = std::make_shared<MapMove>(MapMove{.follower = follower,
                                                      .cancellation = std::move(cancellation),
                                                      .layout = std::move(layout),
                                                      .look_every = look_every});
  spawn(follower->home().core(), "moving the map", move_map(move), std::move(handler));
}

}  // namespace custodian::recipes_detail
