#include "local_handover/listing_coalescer.hpp"

#include <algorithm>
#include <utility>

namespace custodian::recipes_detail {

ListingInterest ListingCoalescer::ask(const LockSpecPtr& spec, OperationOptions options,
                                      Sharing sharing) {
  if (sharing != Sharing::shared) {
    ListingInterest alone{std::make_shared<ListingRequest>()};
    if (sharing == Sharing::alone) {
      start(spec, alone.request(), options);
    } else {
      start_with_watch(spec, alone.request(), options);
    }
    return alone;
  }
  // The list of a request under way may be older than this call, so the caller joins the next one.
  std::shared_ptr<ListingRequest>& joined = running_ ? next_ : running_;
  if (joined) return ListingInterest{joined};
  joined = std::make_shared<ListingRequest>();
  ListingInterest interest{joined};
  if (joined == running_) start(spec, running_, options);
  return interest;
}

void ListingCoalescer::start(const LockSpecPtr& spec, std::shared_ptr<ListingRequest> request,
                             OperationOptions options) {
  request->give_up = std::make_shared<Cancellation>(spec->client.core());
  const CancellationPtr give_up = request->give_up;
  start_children(spec->client.core(), give_up, spec->path, options,
                 [self = shared_from_this(), spec, request = std::move(request)](
                     error_code error, Children children) {
                   self->on_seen(spec, request, error, std::move(children), nullptr);
                 });
}

void ListingCoalescer::start_with_watch(const LockSpecPtr& spec,
                                        std::shared_ptr<ListingRequest> request,
                                        OperationOptions options) {
  request->give_up = std::make_shared<Cancellation>(spec->client.core());
  const CancellationPtr give_up = request->give_up;
  start_children_and_watch(spec->client.core(), give_up, spec->path, options,
                           [self = shared_from_this(), spec, request = std::move(request)](
                               error_code error, Children children, Watch watch) {
                             self->on_seen(spec, request, error, std::move(children),
                                           std::make_shared<Watch>(std::move(watch)));
                           });
}

void ListingCoalescer::on_seen(const LockSpecPtr& spec,
                               const std::shared_ptr<ListingRequest>& request,
                               const error_code& error, Children children,
                               std::shared_ptr<Watch> watch) {
  request->reply = std::make_shared<const ListingReply>(
      ListingReply{error, Listing{std::move(children.names), spec->rule},
                   detail::connection_number(*spec->client.core()), std::move(watch)});
  if (request == running_) {
    running_ = std::exchange(next_, nullptr);
    if (running_ && running_->wanted == 0) running_.reset();
    const OperationOptions patient{Deadline::never(), spec->client.retry_policy().unlimited()};
    if (running_) start(spec, running_, patient);
  }
  // A contender that is woken may make another contender give up, which removes that one from
  // `waiting`. So the loop keeps no iterator.
  while (!request->waiting.empty()) {
    const std::shared_ptr<ResumeTarget> next = std::move(request->waiting.front());
    request->waiting.pop_front();
    next->on_woken();
  }
}

}  // namespace custodian::recipes_detail
