#pragma once

/// \file
/// PendingAcquires ends a client's waiting acquires when the client closes, or when its execution
/// context is destroyed.

#include <boost/asio/any_io_executor.hpp>
#include <map>
#include <memory>
#include <optional>

#include "async/end_of_context.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/service.hpp"

namespace custodian::recipes_detail {

struct Acquire;

/// One for each client. Used on the strand only.
class PendingAcquires final : public Service {
 public:
  explicit PendingAcquires(boost::asio::any_io_executor strand) : strand_{std::move(strand)} {}

  /// Called when the client drains: gives up all waiting acquires.
  void begin_shutdown() override;
  void shutdown() override { end_.reset(); }

  [[nodiscard]] bool closing() const noexcept { return closing_; }
  /// Registers an acquire. If the context is destroyed, the acquire's handler is destroyed with it,
  /// as Asio destroys its own handlers. That wakes a thread that blocks for the acquire.
  void enter(const std::shared_ptr<Acquire>& acquire);
  /// Registers another operation that must end with the client.
  void enter(const CancellationPtr& over) { (*all_)[over]; }
  void leave(const CancellationPtr& over) { all_->erase(over); }

 private:
  using All = std::map<CancellationPtr, std::weak_ptr<Acquire>>;

  static void drop_handlers(const All& waiting);

  const boost::asio::any_io_executor strand_;
  const std::shared_ptr<All> all_ = std::make_shared<All>();
  std::optional<EndOfContext> end_;
  bool closing_ = false;
};

}  // namespace custodian::recipes_detail
