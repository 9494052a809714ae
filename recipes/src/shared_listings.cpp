#include "shared_listings.hpp"

#include <algorithm>
#include <utility>

#include "acquisition.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

void LeavingNodes::remember(const std::string& name,
                            const std::shared_ptr<detail::LineNode>& node) {
  nodes_.insert_or_assign(name, node);
  if (nodes_.size() < forget_at_) return;
  std::erase_if(nodes_, [](const auto& each) { return each.second.expired(); });
  forget_at_ = 2 * nodes_.size() + 16;
}

bool LeavingNodes::knows(const std::string& name) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return false;
  if (!found->second.expired()) return true;
  nodes_.erase(found);
  return false;
}

Looking SharedListings::look(const AcquirePtr& acquire) {
  if (acquire->patience.only_try) {
    Looking alone{std::make_shared<Look>()};
    start(acquire->queue, alone.look(), acquire->operation());
    return alone;
  }
  std::shared_ptr<Look>& joined = running_ ? next_ : running_;
  if (joined) return Looking{joined};
  joined = std::make_shared<Look>();
  Looking looking{joined};
  if (joined == running_) start(acquire->queue, running_, acquire->operation());
  return looking;
}

asio::awaitable<SightPtr> SharedListings::result_of(AcquirePtr acquire,
                                                    std::shared_ptr<Look> look) {
  const asio::any_io_executor strand = acquire->client().get_executor();
  while (!look->sight && !acquire->give_up->requested()) {
    co_await look->arrived.wait(strand, Deadline::never(), acquire->give_up);
  }
  if (look->sight) co_return look->sight;
  co_return std::make_shared<const Sight>(
      Sight{asio::error::operation_aborted, Listing{{}, acquire->queue->rule}, 0});
}

void SharedListings::start(const QueuePtr& queue, std::shared_ptr<Look> look,
                           OperationOptions options) {
  look->give_up = std::make_shared<Cancellation>(queue->client.core());
  const CancellationPtr give_up = look->give_up;
  detail::start_children(queue->client.core(), give_up, queue->path, options,
                         [self = shared_from_this(), queue, look = std::move(look)](
                             error_code error, Children children) {
                           self->on_seen(queue, look, error, std::move(children));
                         });
}

void SharedListings::on_seen(const QueuePtr& queue, const std::shared_ptr<Look>& look,
                             const error_code& error, Children children) {
  std::erase_if(children.names, [&](const std::string& name) { return leaving_->knows(name); });
  look->sight =
      std::make_shared<const Sight>(Sight{error, Listing{std::move(children.names), queue->rule},
                                          detail::connection_number(*queue->client.core())});
  if (look == running_) {
    running_ = std::exchange(next_, nullptr);
    if (running_ && running_->wanted == 0) running_.reset();
    const OperationOptions patient{Deadline::never(), queue->client.retry_policy().unlimited()};
    if (running_) start(queue, running_, patient);
  }
  look->arrived.notify_all();
}

}  // namespace custodian::recipes_detail
