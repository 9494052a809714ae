#pragma once

/// \file
/// AcquiresUnderWay counts the acquires of a client that are under way, in all of its namespaces:
/// those with a node of their own, and those that wait for a node of their client. Threads: any.

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <memory>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/service.hpp"

namespace custodian::recipes_detail {

class AcquiresUnderWay final : public Service {
 public:
  using Count = std::shared_ptr<std::atomic<std::size_t>>;

  /// One acquire, which is counted until its end. An empty entry counts nothing.
  class Entry {
   public:
    Entry() = default;
    explicit Entry(Count count) : count_{std::move(count)} { ++*count_; }
    Entry(Entry&&) noexcept = default;
    Entry& operator=(Entry&& other) noexcept {
      end();
      count_ = std::move(other.count_);
      return *this;
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() { end(); }
    void end() noexcept {
      if (const Count count = std::exchange(count_, nullptr)) --*count;
    }

   private:
    Count count_;
  };

  explicit AcquiresUnderWay(const boost::asio::any_io_executor& /*strand*/) {}

  /// The object of the client, which all of its namespaces share: they share one session, too.
  [[nodiscard]] static AcquiresUnderWay& of(const CorePtr& core);

  [[nodiscard]] Entry enter() const { return Entry{number_}; }
  /// The number of acquires under way, in a shared counter that may outlive the client.
  [[nodiscard]] const Count& number() const noexcept { return number_; }

 private:
  const Count number_ = std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace custodian::recipes_detail
