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

/// Called on the strand only, except anew(), end(), spec(), client() and over().
class Candidacy : public std::enable_shared_from_this<Candidacy> {
 public:
  Candidacy(LockSpecPtr spec, std::function<void(error_code)> on_error);

  /// Another candidacy on the same terms, for a candidate that stands again after the end.
  [[nodiscard]] std::shared_ptr<Candidacy> anew() const;
  [[nodiscard]] const LockSpecPtr& spec() const noexcept { return spec_; }
  [[nodiscard]] const Client& client() const noexcept { return spec_->client; }

  /// Ends the candidacy. Called from any thread.
  void end();
  [[nodiscard]] bool ended() const noexcept { return over_->requested(); }
  [[nodiscard]] const CancellationPtr& over() const noexcept { return over_; }
  /// Attaches the candidacy to its client: from now on the end of the client ends the candidacy,
  /// and the end of the candidacy wakes wait_for_change(). A second call does nothing.
  void attach();

  /// Stands in the queue until the candidate leads, and tries again after an error. Returns an
  /// empty lease if the candidacy has ended.
  [[nodiscard]] boost::asio::awaitable<Lease> stand();
  /// Waits until the leadership is lost or the candidacy has ended.
  [[nodiscard]] boost::asio::awaitable<void> until_over(Lease leadership);

  /// Waits for the next notify(), the deadline or the cancellation, as AsyncEvent::wait() does.
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

/// Makes a candidacy. Throws Error for wrong arguments, in the name of the class `recipe`.
[[nodiscard]] CandidacyPtr make_candidacy(const Client& client, std::string_view recipe,
                                          const NamingRule& rule, std::string path,
                                          CandidateOptions options);
/// The part of start() that all kinds of candidates share: sets the state to `started`, also after
/// a close. Throws Error if the candidate is started already, or if the client accepts nothing new.
void start(CandidateState& state, const LockSpec& spec, std::string_view recipe);

}  // namespace custodian::recipes_detail
