#include "lock_sets/group_shares.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <utility>

#include "acquire/not_acquired.hpp"
#include "custodian/authoring/event.hpp"
#include "custodian/authoring/thrown.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

error_code Share::loss() const {
  if (custom) return custom->is_lost() ? make_error_code(Errc::lock_lost) : error_code{};
  const auto found = std::ranges::find(leases, LeaseState::lost, &Lease::state);
  return found == leases.end() ? error_code{} : error_of(found->loss_reason());
}

namespace {

void release_last(std::vector<Share>& shares) {
  std::vector<Lease>& leases = shares.back().leases;
  while (!leases.empty()) leases.pop_back();
  shares.pop_back();
}

/// Shows when the releases on the callback executor have ended. Used on the strand only.
struct Progress {
  bool is_over = false;
  AsyncEvent over;
};

/// Shares that the callback executor must release. The destructor releases them: on that executor,
/// or when its context is destroyed.
class Releases {
 public:
  Releases(const Client& home, std::vector<Share> shares, std::weak_ptr<Progress> progress)
      : home_{home.share()}, shares_{std::move(shares)}, progress_{std::move(progress)} {}
  Releases(const Releases&) = delete;
  Releases& operator=(const Releases&) = delete;
  ~Releases() {
    while (!shares_.empty()) release_last(shares_);
    // Null if the acquire has ended, or if the client's context was destroyed.
    const auto progress = progress_.lock();
    if (!progress) return;
    try {
      asio::post(home_.get_executor(), [progress] {
        progress->is_over = true;
        progress->over.notify_all();
      });
    } catch (...) {
      home_.log(LogLevel::error, "ending a release has failed: " + thrown_now().text);
    }
  }

 private:
  const Client home_;
  std::vector<Share> shares_;
  const std::weak_ptr<Progress> progress_;
};

}  // namespace

// The caller awaits this coroutine, so `home` outlives it.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<void> release_in_reverse(const Client& home, std::vector<Share> shares,
                                         Deadline limit, CancellationPtr give_up) {
  while (!shares.empty() && !shares.back().custom) release_last(shares);
  if (shares.empty()) co_return;
  const auto progress = std::make_shared<Progress>();
  // The release of a custom lock is user code, so it runs off the strand. The locks in front of it
  // must be released after it, so they are released there, too.
  asio::post(home.callback_executor(),
             [releases = std::make_unique<Releases>(home, std::move(shares), progress)]() mutable {
               releases.reset();
             });
  const asio::any_io_executor strand = home.get_executor();
  co_await progress->over.wait(strand, limit, give_up);
  if (progress->is_over) co_return;
  // This moment is shorter than the time that a blocking call gives its acquire to end.
  const Deadline a_moment{detail::blocking_grace / 2};
  const CancellationPtr is_given_up_already;
  co_await progress->over.wait(strand, a_moment, is_given_up_already);
}

}  // namespace custodian::recipes_detail
