#pragma once

/// \file
/// Candidacy is one candidate of an election, from its start to its end. LeaderLatch and
/// LeaderSelector share it, and differ in their use of a leadership.

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>

#include "acquire/acquire.hpp"
#include "custodian/authoring/event.hpp"
#include "custodian/leader/leadership.hpp"

namespace custodian::recipes_detail {

/// Strand only, except over() and constant members.
class Candidacy : public std::enable_shared_from_this<Candidacy> {
 public:
  Candidacy(LockSpecPtr spec, std::function<void(error_code)> on_error);

  /// Another candidacy on the same terms, for a candidate that stands again after the end.
  [[nodiscard]] std::shared_ptr<Candidacy> anew() const;
  [[nodiscard]] const LockSpecPtr& spec() const noexcept { return spec_; }
  [[nodiscard]] const Client& client() const noexcept { return spec_->client; }

  /// Any thread: the candidacy has ended.
  void end();
  [[nodiscard]] bool ended() const noexcept { return over_->requested(); }
  [[nodiscard]] const CancellationPtr& over() const noexcept { return over_; }
  /// Ends the candidacy with the client, and wakes the waiters for a change. May be called again.
  void attach();

  /// Stands in the queue until it leads, through all errors. An empty lease: it has ended.
  [[nodiscard]] boost::asio::awaitable<Lease> stand();
  /// Waits until the leadership is lost or the candidacy has ended.
  [[nodiscard]] boost::asio::awaitable<void> until_over(Lease leadership);

  /// Ends with the next change of any kind, or as AsyncEvent::wait() does.
  [[nodiscard]] boost::asio::awaitable<void> wait_for_change(Deadline until,
                                                             CancellationPtr cancellation);
  void notify() { changes_.notify_all(); }

 private:
  void tell(const error_code& error);

  LockSpecPtr spec_;
  std::function<void(error_code)> on_error_;
  CancellationPtr over_;
  AsyncEvent changes_;
  bool attached_ = false;
};

using CandidacyPtr = std::shared_ptr<Candidacy>;

/// Checks the arguments of a constructor with this name; throws its errors.
[[nodiscard]] CandidacyPtr make_candidacy(const Client& client, std::string_view recipe,
                                          const NamingRule& rule, std::string path,
                                          CandidateOptions options);
/// For start(): the state is `started` now, also of a candidate that was closed. Throws Error if it
/// was started already, or the client accepts nothing new.
void start(CandidateState& state, const LockSpec& spec, std::string_view recipe);

}  // namespace custodian::recipes_detail
