#pragma once

/// \file
/// ValueLine is one client's updates of one value: batches of them go one after the other, since
/// side by side they could only get in each other's way. It also has what an update leaves for the
/// next one: the client's witness or watch, and a copy of the value. Strand only, but for its
/// destruction.

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
  /// Whether the node is the same as when the watch was armed, as far as the server knows that the
  /// client is connected to. After a disconnection a deletion may not have been reported yet.
  [[nodiscard]] bool holds(const CorePtr& core) const {
    return watch && !is_over(watch.state()) && detail::connection_number(*core) == connection;
  }

  Watch watch{};
  std::uint64_t connection = 0;
  /// The servers do not permit it.
  bool is_forbidden = false;
};

class ValueLine {
 public:
  /// A place in the line, which is left by destroying it. Must not outlive the line.
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
  /// Without a witness: tells when the node is deleted. Armed from the second update on.
  NodeWatch watch{};
  bool has_updated = false;
  /// The value as an update left it. If the witness has existed since, or the watch holds, the node
  /// is the same, and a write that expects this version fails if the value has changed.
  std::optional<Stored> copy{};
  CopyTrust trust{};

 private:
  std::list<Place*> places_;
  std::uint64_t updates_ = 0;
};

}  // namespace custodian::recipes_detail
