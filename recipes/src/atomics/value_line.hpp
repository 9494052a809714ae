#pragma once

/// \file
/// ValueLine is one client's updates of one value: they go one after the other, since together they
/// could only get in each other's way. It also has what an update leaves for the next one: the
/// client's witness, and a copy of the value. Strand only, but for its destruction.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "custodian/authoring/event.hpp"
#include "custodian/authoring/owned_node.hpp"
#include "custodian/client.hpp"
#include "custodian/shared/versioned.hpp"

namespace custodian::recipes_detail {

class ValueLine;
using ValueLinePtr = std::shared_ptr<ValueLine>;

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

  /// The client's witness below the value's node; empty if there is none yet. Destroying it deletes
  /// the node.
  OwnedNode witness{};
  /// The value as an update left it, if the witness has existed since: then the node is the same,
  /// and a write that expects this version fails if the value has changed.
  std::optional<Versioned<std::string>> copy{};

 private:
  std::list<Place*> places_;
  std::uint64_t updates_ = 0;
};

}  // namespace custodian::recipes_detail
