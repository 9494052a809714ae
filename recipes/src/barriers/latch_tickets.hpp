#pragma once

/// \file
/// The tickets of a latch: each arrival creates one, a node with the next number. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/transaction.hpp"

namespace custodian::recipes_detail {

/// The name of the ticket with this number, which is not negative: ten digits.
[[nodiscard]] std::string ticket_name(std::int32_t number);
/// The number of a ticket; nothing for a name that is none.
[[nodiscard]] std::optional<std::int32_t> ticket_number(std::string_view name);
/// How many arrivals these children of a latch stand for: one more than the greatest number.
[[nodiscard]] std::int32_t arrivals_of(const std::vector<std::string>& names);

/// The data of a latch that opens with this arrival.
[[nodiscard]] std::string latch_data(std::int32_t expected);
/// What the data of a latch say; nothing if they are not those of a latch.
[[nodiscard]] std::optional<std::int32_t> expected_of(std::string_view data);

/// Tickets that one transaction creates.
struct Tickets {
  std::int32_t first = 0;
  std::int32_t count = 0;

  friend bool operator==(const Tickets&, const Tickets&) = default;
};
/// The tickets for so many arrivals at a latch with so many before; none at one that is open.
[[nodiscard]] Tickets next_tickets(std::int32_t expected, std::int32_t before,
                                   std::int32_t arrivals) noexcept;

/// Creates the tickets, if none of them exists, and if the one before them does: so numbers have no
/// gaps.
[[nodiscard]] Transaction create_tickets(const std::string& latch, const Tickets& tickets,
                                         const std::string& arriver);

/// Whose tickets there are, after a reply to the transaction was lost.
enum class TicketsOf : std::uint8_t {
  arriver,  ///< the transaction was applied
  others,   ///< it was not, and never will be: the numbers are taken
  nobody,   ///< it was not, or not yet: the same transaction, sent again, is applied once at most
};
/// `data` is that of the first ticket, or nothing if there is no such node.
[[nodiscard]] TicketsOf tickets_of(const std::optional<std::string>& data,
                                   std::string_view arriver) noexcept;

}  // namespace custodian::recipes_detail
