#pragma once

/// \file
/// The contenders of one client in one line, that is, under one path and rule. They share listings,
/// and the first place passes from one to the next of them without a word from the servers. For the
/// strand only.
///
/// Whoever leaves the first place hands it to the one behind, if that one's own listing shows
/// nobody else in between: contenders come only behind, so that stays true. The servers are told in
/// one transaction (see NextInLine); if they know better, the next one is told before anybody else
/// can be let in.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "condition.hpp"
#include "contender_queue.hpp"
#include "custodian/own_node.hpp"

namespace custodian::recipes_detail {

struct Acquire;
using AcquirePtr = std::shared_ptr<Acquire>;
class LocalLine;
using LocalLinePtr = std::shared_ptr<LocalLine>;

/// A line as it was a moment ago, but for nodes of this client's that are being deleted; and the
/// connection that told.
struct Sight {
  error_code error{};
  Listing listing;
  std::uint64_t connection = 0;
};
using SightPtr = std::shared_ptr<const Sight>;

/// One request for a listing, and who wants the reply.
struct Look {
  Condition arrived;
  SightPtr sight;
  CancellationPtr give_up;
  int wanted = 0;
};

/// The wish to see what a look comes to. If nobody has it any more the look is given up.
class Looking {
 public:
  explicit Looking(std::shared_ptr<Look> look) : look_{std::move(look)} { ++look_->wanted; }
  Looking(Looking&&) noexcept = default;
  Looking& operator=(Looking&&) = delete;
  ~Looking() {
    const bool unwanted = look_ && --look_->wanted == 0;
    if (unwanted && !look_->sight && look_->give_up) look_->give_up->request();
  }

  [[nodiscard]] const std::shared_ptr<Look>& look() const noexcept { return look_; }

 private:
  std::shared_ptr<Look> look_;
};

class LocalLine : public std::enable_shared_from_this<LocalLine> {
 public:
  explicit LocalLine(Rule rule);

  /// The client's one of this path and rule.
  [[nodiscard]] static LocalLinePtr of(const Queue& queue);

  /// Asks for a listing that is made after this call. Those who ask meanwhile get one together,
  /// with the next request; but who only tries asks alone, and once.
  [[nodiscard]] Looking look(const AcquirePtr& acquire);
  /// What has been seen, or why nothing was.
  [[nodiscard]] static boost::asio::awaitable<SightPtr> result_of(
      AcquirePtr acquire, std::shared_ptr<const Looking> looking);

  /// The node is in the line until it is destroyed or forfeited.
  void enter(OwnNode& node, const Queue& queue);
  /// It has the first place.
  void set_first(std::string_view name);
  /// Who is here under this name; null if nobody is.
  [[nodiscard]] const Participant* find(std::string_view name) const;
  /// Waits for the one in front, who is here, to leave. True: the first place is this one's now;
  /// false: look again.
  [[nodiscard]] boost::asio::awaitable<bool> wait_behind(AcquirePtr acquire, std::string name,
                                                         std::string nearest);

 private:
  struct Member {
    Participant who;
    std::shared_ptr<detail::LineNode> node;
    bool is_first = false;
    std::string behind{};  ///< whom it waits for, or has waited for
  };
  struct Follower {
    std::string name;
    std::shared_ptr<Condition> woken;
    bool wants_position = false;
  };

  void remember(const std::string& name, const std::shared_ptr<detail::LineNode>& node);

  std::shared_ptr<detail::LineNode> leave(const std::string& name, Leaving leaving);
  void start(const QueuePtr& queue, std::shared_ptr<Look> look, OperationOptions options);
  [[nodiscard]] static boost::asio::awaitable<void> run(LocalLinePtr self, QueuePtr queue,
                                                        std::shared_ptr<Look> look,
                                                        OperationOptions options);
  void on_seen(const QueuePtr& queue, const std::shared_ptr<Look>& look);
  [[nodiscard]] bool is_leaving(const std::string& name);
  [[nodiscard]] static boost::asio::awaitable<void> mind_session(
      LocalLinePtr self, std::shared_ptr<detail::ClientCore> core, CancellationPtr over);
  void wake_all();

  const Rule rule_;
  /// Whether places are handed on. Not where contenders may stand in one place together.
  const bool passes_on_;
  std::map<std::string, Member, std::less<>> members_;
  /// Who waits, by the name of whom they wait for. Two wait for one if the first of them has been
  /// deleted by somebody, and does not know yet.
  std::multimap<std::string, Follower, std::less<>> followers_;
  /// Nodes that are being deleted, as long as that is not known to be done.
  std::map<std::string, std::weak_ptr<detail::LineNode>, std::less<>> leaving_;
  std::size_t forget_at_ = 16;
  std::shared_ptr<Look> running_;
  std::shared_ptr<Look> next_;
  CancellationPtr minding_;  ///< of the session, while somebody waits
};

}  // namespace custodian::recipes_detail
