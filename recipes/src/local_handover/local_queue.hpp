#pragma once

/// \file
/// LocalQueue has the contenders of one client in one line, that is, under one path and rule. They
/// share listings, and a place passes from one contender to the next without an answer from the
/// servers (see local_order.hpp). Used on the strand only.
///
/// Their order is known from a listing, or from the numbers alone: see SequenceContinuity.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "custodian/authoring/owned_node.hpp"
#include "local_handover/listing_coalescer.hpp"
#include "local_handover/local_order.hpp"
#include "local_handover/resume_target.hpp"
#include "local_handover/sequence_continuity.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

class LocalQueue;
using LocalQueuePtr = std::shared_ptr<LocalQueue>;

/// Which changes in front of it a contender wants to know.
enum class Positions {
  none,  ///< no change, only its own grant
  all,   ///< each change
};

class LocalQueue : public std::enable_shared_from_this<LocalQueue> {
 public:
  /// One contender, from its create's reply until its node is released.
  struct Member : LocalEntry {
    using LocalEntry::LocalEntry;
    std::shared_ptr<const Created> created;
    std::shared_ptr<detail::QueuedNode> node;
    std::string identity;
    std::shared_ptr<ResumeTarget> waiter;  ///< set while the contender waits
    Positions positions = Positions::none;
    [[nodiscard]] bool wants_position() const noexcept { return positions == Positions::all; }
  };
  using MemberPtr = std::shared_ptr<Member>;

  explicit LocalQueue(const LockSpec& spec);

  /// The client's queue for this path and rule.
  [[nodiscard]] static LocalQueuePtr of(const LockSpec& spec);

  [[nodiscard]] ListingCoalescer& listings() noexcept { return *listings_; }
  /// Whether a node of this name is in the line.
  [[nodiscard]] bool has(std::string_view name) const { return members_.contains(name); }
  /// Whether the next contender's number will probably identify its predecessor.
  [[nodiscard]] bool expects_neighbour() const noexcept { return numbers_run_on_; }

  /// Adds the node to the line. It leaves the line when the node is destroyed or forfeited. If the
  /// node's number identifies the predecessor, the member goes behind that one.
  [[nodiscard]] MemberPtr enter(OwnedNode& node, const LockSpec& spec, Positions positions);
  /// Adds the reader of a downgrade behind its caller's writer, whose node has the name `writer`.
  void enter_beside(OwnedNode& node, const LockSpec& spec, Positions positions,
                    std::string_view writer);
  /// Adds a node that is neither behind nor in front of any member, such as a permit's, so that
  /// has() and participant() know it.
  void enter_apart(OwnedNode& node, const LockSpec& spec);
  /// Puts the member behind the contender that a listing has shown in front of it, which may be
  /// another client's.
  void place_behind(Member& member, std::string_view in_front);
  /// Lets the member go on: no contender in front excludes it.
  void grant(Member& member);
  /// The member right in front. Only for a member behind another one of the line.
  [[nodiscard]] MemberPtr in_front_of(const Member& member) const;
  [[nodiscard]] Participant participant(const Member& member) const;
  /// The contender whose node has this name; nothing if it is not in the line.
  [[nodiscard]] std::optional<Participant> participant(std::string_view name) const;
  /// Called when the listing lets `member` go on. Granted members that should be in front of it,
  /// but are not listed, are notified of their loss: their nodes were deleted by hand.
  void tell_missing(const Member& member, const Listing& listing);
  /// Lets the member wait behind another one of the line. Wakes the waiter once, by a post to the
  /// strand, when it may go on or must list again.
  void wait(Member& member, std::shared_ptr<ResumeTarget> waiter, const Client& client);
  /// Wakes the waiter for any other reason, for instance because its acquire is given up. Does
  /// nothing if there is no waiter.
  void wake(Member& member);

 private:
  /// The newest contender, as far as the numbers show.
  struct Last {
    NumberTold told;
    /// The member that is right in front of the next number; null if no contender is there. Means
    /// nothing if `told` has no era.
    Member* member = nullptr;
  };

  [[nodiscard]] MemberPtr add(OwnedNode& node, const LockSpec& spec, Positions positions);
  void place_by_number(Member& member, NumberTold told);
  [[nodiscard]] std::shared_ptr<detail::QueuedNode> leave(Member& member, LeaveReason leaving);
  void wake(const std::vector<LocalEntry*>& members);
  void mind(const Client& client);
  /// The oldest member that may go on; null if another client holds the lock.
  [[nodiscard]] const Member* holder() const;
  /// Warns, once for each holder, when members have waited behind a holder of the same client for a
  /// session timeout: the waiting task may be the holder itself.
  [[nodiscard]] static boost::asio::awaitable<void> mind_holder(
      LocalQueuePtr self, std::shared_ptr<const Client> client, CancellationPtr over);
  /// Makes the waiters list again when the session is lost.
  [[nodiscard]] static boost::asio::awaitable<void> mind_session(LocalQueuePtr self, CorePtr core,
                                                                 CancellationPtr over);
  void look_again_all();

  const boost::asio::any_io_executor strand_;
  const std::int64_t fencing_epoch_;
  std::map<std::string_view, MemberPtr> members_;  ///< by name; the keys are views into the members
  std::shared_ptr<ListingCoalescer> listings_ = std::make_shared<ListingCoalescer>();
  std::shared_ptr<SequenceContinuity> guard_ = std::make_shared<SequenceContinuity>();
  Last last_;
  bool numbers_run_on_ = false;
  CancellationPtr minding_;  ///< ends mind_holder() and mind_session(); set while there are waiters
};

}  // namespace custodian::recipes_detail
