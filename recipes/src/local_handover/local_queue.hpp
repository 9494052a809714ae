#pragma once

/// \file
/// LocalQueue is the contenders of one client in one line, that is, under one path and rule. They
/// share listings, and a place passes from one to the next without an answer from the servers (see
/// local_order.hpp). For the strand only.
///
/// Their order is known from a listing, or from the numbers alone: see SequenceContinuity.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <map>
#include <memory>
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
  none,  ///< only its own grant
  all,   ///< each of them
};

class LocalQueue : public std::enable_shared_from_this<LocalQueue> {
 public:
  /// One contender, from its create's reply until its node is released.
  struct Member : LocalEntry {
    using LocalEntry::LocalEntry;
    std::shared_ptr<const Created> created;
    std::shared_ptr<detail::QueuedNode> node;
    std::string identity;
    std::shared_ptr<ResumeTarget> waiter;  ///< while it waits
    Positions positions = Positions::none;
    [[nodiscard]] bool wants_position() const noexcept { return positions == Positions::all; }
  };
  using MemberPtr = std::shared_ptr<Member>;

  explicit LocalQueue(const LockSpec& spec);

  /// The client's queue for this path and rule.
  [[nodiscard]] static LocalQueuePtr of(const LockSpec& spec);

  [[nodiscard]] ListingCoalescer& listings() noexcept { return *listings_; }
  /// Whether the next contender's number will probably identify its predecessor.
  [[nodiscard]] bool expects_neighbour() const noexcept { return numbers_run_on_; }

  /// The node is in the line until it is destroyed or forfeited. If the number identifies its
  /// predecessor, the member goes behind that one.
  [[nodiscard]] MemberPtr enter(OwnedNode& node, const LockSpec& spec, Positions positions);
  /// The same for a reader that its own caller's writer, of this node, lets in.
  void enter_beside(OwnedNode& node, const LockSpec& spec, Positions positions,
                    std::string_view writer);
  /// A listing has shown the predecessor, which may be another client's.
  void place_behind(Member& member, std::string_view in_front);
  /// A listing has shown that it may go on.
  void grant(Member& member);
  /// For a member behind another one of the line.
  [[nodiscard]] MemberPtr in_front_of(const Member& member) const;
  [[nodiscard]] Participant participant(const Member& member) const;
  /// A listing shows that no contender is in front of the member: members that believe to be there
  /// are notified of their loss, for their nodes were deleted by hand.
  void tell_missing(const Member& member, const Listing& listing);
  /// For a member behind another one of the line: wakes the waiter, once and in its own turn of the
  /// executor, when it may go on or must list again.
  void wait(Member& member, std::shared_ptr<ResumeTarget> waiter, const Client& client);
  /// Wakes it for another reason: the waiter gives up. Does nothing if there is no waiter.
  void wake(Member& member);

 private:
  /// The newest contender, as far as the numbers show.
  struct Last {
    NumberTold told;
    /// No contender is between it and that number. Null: the next one has no predecessor.
    Member* member = nullptr;
  };

  [[nodiscard]] MemberPtr add(OwnedNode& node, const LockSpec& spec, Positions positions);
  void place_by_number(Member& member, NumberTold told);
  [[nodiscard]] std::shared_ptr<detail::QueuedNode> leave(Member& member, LeaveReason leaving);
  void wake(const std::vector<LocalEntry*>& members);
  void mind(const Client& client);
  /// The oldest member that may go on; null if another client holds the lock.
  [[nodiscard]] const Member* holder() const;
  /// Warns, once for each holder, of waiters that wait behind it, a holder of the same client, for
  /// a session timeout: a waiting task may be the holder itself.
  [[nodiscard]] static boost::asio::awaitable<void> mind_holder(
      LocalQueuePtr self, std::shared_ptr<const Client> client, CancellationPtr over);
  [[nodiscard]] static boost::asio::awaitable<void> mind_session(LocalQueuePtr self, CorePtr core,
                                                                 CancellationPtr over);
  void look_again_all();

  const boost::asio::any_io_executor strand_;
  const std::int64_t fencing_epoch_;
  std::map<std::string_view, MemberPtr> members_;  ///< by name, which is the member's own
  std::shared_ptr<ListingCoalescer> listings_ = std::make_shared<ListingCoalescer>();
  std::shared_ptr<SequenceContinuity> guard_ = std::make_shared<SequenceContinuity>();
  Last last_;
  bool numbers_run_on_ = false;
  CancellationPtr minding_;  ///< ends mind_holder() and mind_session(); set while there are waiters
};

}  // namespace custodian::recipes_detail
