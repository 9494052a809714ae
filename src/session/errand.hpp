#pragma once

/// \file
/// Errand is a call that may block, made on a thread of its own for a strand that never waits.
///
/// A call into the system's resolver, or into Kerberos, may take half a minute and cannot be
/// cancelled. So its thread is detached, and a result that is not wanted any more is not waited
/// for: neither the end of the session nor that of its client takes longer.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace custodian::detail {

/// At most one call is wanted at a time. Used on the strand only.
template <typename Result>
class Errand {
 public:
  using Call = std::function<Result()>;
  using Handler = std::function<void(Result)>;

  explicit Errand(boost::asio::any_io_executor strand) : strand_{std::move(strand)} {}
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;
  ~Errand() { cancel(); }

  /// Makes the call, which must not throw, nor use anything that may be destroyed before it ends.
  /// The handler runs on the strand, unless it is cancelled. Cancels an earlier call. Throws
  /// std::system_error if no thread can be started; the handler is not called then, and the caller
  /// may pass it to answer().
  void begin(Call call, Handler handler) {
    await(std::move(handler));
    std::thread{[call = std::move(call), mailbox = mailbox_, this]() mutable {
      deliver(this, std::move(mailbox), call());
    }}.detach();
  }
  /// Passes this result to the handler, on the strand, without making a call. Cancels an earlier
  /// call.
  void answer(Result result, Handler handler) {
    await(std::move(handler));
    deliver(this, mailbox_, std::move(result));
  }
  [[nodiscard]] bool busy() const noexcept { return mailbox_ != nullptr; }
  /// The handler is not called any more.
  void cancel() {
    if (!mailbox_) return;
    {
      const std::lock_guard lock{mailbox_->mutex};
      mailbox_->strand.reset();
      mailbox_->handler = nullptr;
    }
    mailbox_.reset();
  }

 private:
  /// Shared by a call's thread and the Errand, either of which may end first. cancel() waits for
  /// the mutex, so the executor's context lives while the result is posted.
  struct Mailbox {
    std::mutex mutex;
    std::optional<boost::asio::any_io_executor> strand;
    Handler handler;
  };

  void await(Handler handler) {
    cancel();
    mailbox_ = std::make_shared<Mailbox>();
    mailbox_->strand =
        boost::asio::prefer(strand_, boost::asio::execution::outstanding_work.tracked);
    mailbox_->handler = std::move(handler);
  }

  /// `self` may be destroyed: it is used only if the result is still wanted.
  static void deliver(Errand* self, std::shared_ptr<Mailbox> mailbox, Result result) {
    const std::lock_guard lock{mailbox->mutex};
    if (!mailbox->strand) return;
    boost::asio::post(*mailbox->strand, [self, mailbox, result = std::move(result)]() mutable {
      Handler wanted;
      {
        const std::lock_guard again{mailbox->mutex};
        if (!mailbox->strand) return;  // cancelled meanwhile
        mailbox->strand.reset();
        wanted.swap(mailbox->handler);
      }
      self->mailbox_.reset();
      wanted(std::move(result));
    });
  }

  boost::asio::any_io_executor strand_;
  std::shared_ptr<Mailbox> mailbox_;
};

}  // namespace custodian::detail
