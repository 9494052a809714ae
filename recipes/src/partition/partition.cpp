#include "partition/partition.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "acquire/pending_acquires.hpp"
#include "async/backoff.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/spawn.hpp"
#include "partition/shard_plan.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// A member is an ephemeral node in the folder `party`, and each shard is a coroutine:
//
//   1. wait until the plan gives the shard to this member;
//   2. stand in the queue of the shard's lock, until the lock is acquired, or the plan gives the
//      shard to another member;
//   3. hand the lease out, and wait until it is lost or released, or the plan gives the shard to
//      another member;
//   4. request a stop, and begin again. The lock is free when the user has released the lease.
//
// A new plan is made when the mirror of that folder reports that a member has come or gone.

namespace {

void check_name(const std::string& path, std::string_view what, const std::string& name) {
  if (!name.empty() && name.find('/') == std::string::npos) return;
  throw Error{Errc::invalid_argument, "SetPartitioner", path,
              std::string{what} + " is a node's name: not empty, and without a slash"};
}

}  // namespace

Partition::Partition(const Client& client, std::string path, std::vector<std::string> shards,
                     std::string id, SetPartitioner::Listener on_shard,
                     SetPartitionerOptions options)
    : client_{client.share()},
      id_{std::move(id)},
      on_shard_{std::move(on_shard)},
      over_{std::make_shared<Cancellation>(client.core())},
      turn_{client.callback_executor()} {
  check_path(client.core(), "SetPartitioner", path);
  check_name(path, "the id", id_);
  if (!on_shard_) throw Error{Errc::invalid_argument, "SetPartitioner", path, "no listener"};
  const std::string locks = join(path, "locks");
  std::set<std::string> names;
  for (std::string& name : shards) {
    check_name(path, "a shard", name);
    if (!names.insert(name).second) {
      throw Error{Errc::invalid_argument, "SetPartitioner", path,
                  "a shard is named twice: " + name};
    }
    CandidacyPtr terms =
        make_candidacy(client, "SetPartitioner", mutex_rule, join(locks, name),
                       {.id = id_, .lease = options.lease, .on_error = options.on_error});
    shards_.push_back({.name = std::move(name), .terms = std::move(terms), .standing = nullptr});
  }
  const std::string party = join(path, "party");
  node_.emplace(client, join(party, id_), std::string{},
                PersistentNodeOptions{.foreign_node = options.same_id});
  party_.emplace(client, party, MirrorOptions{.data = MirrorData::not_kept});
}

void Partition::start() {
  spawn(client_.core(), "sharing " + party_->path(), begin(shared_from_this()));
  following_ = party_->on_change([weak = weak_from_this()](const MirrorChange& change) {
    const auto self = weak.lock();
    if (!self) return;
    asio::post(self->client_.get_executor(), [self, change] { self->follow(change); });
  });
}

asio::awaitable<void> Partition::begin(PartitionPtr self) {
  auto& pending = Client{self->client_.share()}.use_service<PendingAcquires>();
  self->over_->on_request(self.get(), [weak = self->weak_from_this()] {
    if (const auto alive = weak.lock()) alive->end_all();
  });
  if (pending.closing()) self->over_->request();
  if (self->over_->requested()) {
    self->end_all();
    co_return;
  }
  pending.enter(self->over_);
  for (Shard& shard : self->shards_) {
    spawn(self->client_.core(), "owning " + shard.name, keep(self, shard.name));
  }
}

// -- A shard --------------------------------------------------------------------------------------

asio::awaitable<void> Partition::keep(PartitionPtr self, std::string name) {
  Shard& shard = self->shard(name);
  while (!self->over_->requested()) {
    if (!shard.is_planned) {
      const asio::any_io_executor strand = self->client_.get_executor();
      co_await self->planned_.wait(strand, Deadline::never(), self->over_);
      continue;
    }
    shard.standing = shard.terms->anew();
    const CandidacyPtr standing = shard.standing;
    standing->attach();
    Lease lease = co_await standing->stand();
    if (lease) {
      std::stop_source stop;
      self->give(name, lease.share(), stop.get_token());
      // From here on only the user owns the lease.
      co_await standing->until_over(std::move(lease));
      stop.request_stop();
      self->note_owned(name, false);
    }
    const bool has_moved = shard.standing != standing;
    shard.standing = nullptr;
    // If the plan has not ended the candidacy, only the end of the client can have.
    if (standing->ended() && !has_moved) break;
    // A user that releases a shard gets it again if the plan still says so, but not at once.
    if (!standing->ended()) {
      constexpr std::chrono::seconds pause{1};
      co_await pause_for(self->client_, pause, Deadline::never(), standing->over());
    }
  }
}

Partition::Shard& Partition::shard(std::string_view name) {
  return *std::ranges::find(shards_, name, &Shard::name);
}

void Partition::give(const std::string& shard, Lease lease, std::stop_token stop) {
  note_owned(shard, true);
  asio::post(turn_, [self = shared_from_this(),
                     owned = OwnedShard{shard, std::move(lease), std::move(stop)}]() mutable {
    // After close(), objects that the listener refers to may be gone. The lease is released.
    if (self->closed_) return;
    self->on_shard_(std::move(owned));
  });
}

// -- The plan -------------------------------------------------------------------------------------

void Partition::follow(const MirrorChange& change) {
  if (over_->requested() || !party_) return;
  if (change.kind == MirrorChangeKind::synced) is_synced_ = true;
  const MirroredNodePtr& node = change.node ? change.node : change.before;
  if (node && node->path != party_->path()) {
    const std::string member{name_of(node->path)};
    if (change.kind == MirrorChangeKind::added) seen_.insert(member);
    if (change.kind == MirrorChangeKind::removed) seen_.erase(member);
  }
  // The first walk shows the members one by one. A plan from a part of them would give this member
  // nearly all shards.
  if (is_synced_) plan();
}

void Partition::plan() {
  {
    const std::lock_guard lock{mutex_};
    members_ = seen_;
  }
  for (Shard& each : shards_) {
    each.is_planned = owner_of_shard(each.name, seen_) == id_;
    if (!each.is_planned && each.standing) std::exchange(each.standing, nullptr)->end();
  }
  planned_.notify_all();
}

// -- The end --------------------------------------------------------------------------------------

void Partition::close() {
  if (client_.unusable() == Errc::forked) return;
  closed_ = true;
  over_->request();
}

void Partition::end_all() {
  Client{client_.share()}.use_service<PendingAcquires>().leave(over_);
  for (Shard& each : shards_) {
    if (each.standing) each.standing->end();
  }
  planned_.notify_all();
  following_.reset();
  party_.reset();
  node_.reset();
}

// -- What is known --------------------------------------------------------------------------------

void Partition::note_owned(const std::string& shard, bool is_owned) {
  const std::lock_guard lock{mutex_};
  if (is_owned) {
    owned_.insert(shard);
  } else {
    owned_.erase(shard);
  }
}

std::vector<std::string> Partition::owned() const {
  if (client_.unusable() == Errc::forked) return {};
  const std::lock_guard lock{mutex_};
  return {owned_.begin(), owned_.end()};
}

std::vector<std::string> Partition::members() const {
  if (client_.unusable() == Errc::forked) return {};
  const std::lock_guard lock{mutex_};
  return {members_.begin(), members_.end()};
}

}  // namespace custodian::recipes_detail
