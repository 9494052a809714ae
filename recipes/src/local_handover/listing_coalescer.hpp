#pragma once

/// \file
/// ListingCoalescer lists a queue for all of a client's contenders in it. Used on the strand only.

#include <cstdint>
#include <deque>
#include <memory>

#include "local_handover/resume_target.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

/// A queue as it was a moment ago, and the connection that showed it.
struct ListingReply {
  error_code error{};
  Listing listing;
  std::uint64_t connection = 0;
  /// The watch that was armed with the listing, if its contender has asked for one.
  std::shared_ptr<Watch> watch{};
};
using ListingReplyPtr = std::shared_ptr<const ListingReply>;

/// One request for a listing, and the contenders that want the reply.
struct ListingRequest {
  /// The contenders that the reply wakes, directly and without another turn of the executor.
  std::deque<std::shared_ptr<ResumeTarget>> waiting;
  ListingReplyPtr reply;  ///< the listing, or the error
  CancellationPtr give_up;
  int wanted = 0;  ///< the number of ListingInterest objects of this request
};

/// Keeps a shared listing request alive; dropping the last interest cancels it.
class ListingInterest {
 public:
  ListingInterest() = default;
  explicit ListingInterest(std::shared_ptr<ListingRequest> request) : request_{std::move(request)} {
    ++request_->wanted;
  }
  ListingInterest(ListingInterest&&) noexcept = default;
  ListingInterest& operator=(ListingInterest&& other) noexcept {
    std::swap(request_, other.request_);
    return *this;
  }
  ~ListingInterest() {
    const bool unwanted = request_ && --request_->wanted == 0;
    if (unwanted && !request_->reply && request_->give_up) request_->give_up->request();
  }

  [[nodiscard]] explicit operator bool() const noexcept { return request_ != nullptr; }
  [[nodiscard]] const std::shared_ptr<ListingRequest>& request() const noexcept { return request_; }

 private:
  std::shared_ptr<ListingRequest> request_;
};

/// Whether other contenders may share the listing, and whether a watch is armed with it.
enum class Sharing { shared, alone, alone_with_watch };

class ListingCoalescer : public std::enable_shared_from_this<ListingCoalescer> {
 public:
  /// Asks for a listing that is made after this call. Contenders that ask while a request is under
  /// way share the next one. A try sends a request of its own, once.
  [[nodiscard]] ListingInterest ask(const LockSpecPtr& spec, OperationOptions options,
                                    Sharing sharing);

 private:
  void start(const LockSpecPtr& spec, std::shared_ptr<ListingRequest> request,
             OperationOptions options);
  void start_with_watch(const LockSpecPtr& spec, std::shared_ptr<ListingRequest> request,
                        OperationOptions options);
  void on_seen(const LockSpecPtr& spec, const std::shared_ptr<ListingRequest>& request,
               const error_code& error, Children children, std::shared_ptr<Watch> watch);

  std::shared_ptr<ListingRequest> running_;
  std::shared_ptr<ListingRequest> next_;
};

}  // namespace custodian::recipes_detail
