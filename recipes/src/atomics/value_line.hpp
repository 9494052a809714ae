#pragma once

/// \file
/// ValueLine is the line of one client's updates of one value. Their batches go one after the
/// other, since side by side they could only hinder each other. The line also keeps what an update
/// leaves for the next one: the client's witness or watch, and a copy of the value. Strand only,
/// except its destruction.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "atomics/copy_trust.hpp"
#include "atomics/stored.hpp"
#include "custodian/authoring/event.hpp"
#include "custodian/authoring/owned_node.hpp"
#include "custodian/client.hpp"
#include "custodian/watch.hpp"

namespace custodian::recipes_detail {

class UpdateBatch;
class ValueLine;
using ValueLinePtr = std::shared_ptr<ValueLine>;

/// A watch on the children of the value's node. It ends when the node is deleted, and not when the
/// value changes.
struct NodeWatch {
  /// Whether the node is still the one below which the watch was armed, as far as the connected
  /// server knows. After a disconnection a deletion may not have been reported yet, so the answer
  /// is false.
  [[nodiscard]] bool holds(const CorePtr& core) const {
    return watch && !is_over(watch.state()) && detail::connection_number(*core) == connection;
  }

  Watch watch{};
  std::uint64_t connection = 0;
  /// The servers do not permit the watch.
  bool is_forbidden = false;
};

class ValueLine {
 public:
  /// A place in the line. Its destructor leaves the line. Must not outlive the line.
  class Place {
   public:
    explicit Place(ValueLine& line);
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place();

    /// Waits for the turn. Errors: deadline_exceeded, operation_aborted.
    [[nodiscard]] boost::asio::awaitable<error_code> wait_for_turn(
        boost::asio::any_io_executor strand, Deadline until, CancellationPtr cancellation);

   private:
    [[nodiscard]] bool is_first() const { return line_.places_.front() == this; }

    ValueLine& line_;
    const std::list<Place*>::iterator place_;
    AsyncEvent moved_up_;
  };

  /// The line of this client and this path; it exists for as long as it is used.
  [[nodiscard]] static ValueLinePtr of(const Client& client, const std::string& path);

  /// A text that no other update of the present witness has.
  [[nodiscard]] std::string next_testimony(const std::string& identity) {
    return identity + " " + std::to_string(++updates_);
  }

  /// The batch that is last in the line, while updates may join it.
  std::weak_ptr<UpdateBatch> joinable{};
  /// The client's witness below the value's node; empty if there is none yet. Destroying it deletes
  /// the node.
  OwnedNode witness{};
  /// Without a witness: the watch that fires when the node is deleted. Armed from the second update
  /// on.
  NodeWatch watch{};
  bool has_updated = false;
  /// The value as an update has left it. If the witness has existed since, or the watch holds, the
  /// node is the same, and a write that expects the copy's version fails if the value has changed.
  std::optional<Stored> copy{};
  CopyTrust trust{};

 private:
  std::list<Place*> places_;
  std::uint64_t updates_ = 0;
};

}  // namespace custodian::recipes_detail
