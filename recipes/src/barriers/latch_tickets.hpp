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

/// The name of the ticket with this number: ten digits. `number` must not be negative.
[[nodiscard]] std::string ticket_name(std::int32_t number);
/// The number of a ticket; nothing if the name is not a ticket's.
[[nodiscard]] std::optional<std::int32_t> ticket_number(std::string_view name);
/// The number of arrivals by a latch's children: one more than the greatest number of a ticket.
[[nodiscard]] std::int32_t arrivals_of(const std::vector<std::string>& names);

/// The data of a latch that opens with the arrival number `expected`.
[[nodiscard]] std::string latch_data(std::int32_t expected);
/// The number of arrivals that a latch with these data expects; nothing if they are not a latch's.
[[nodiscard]] std::optional<std::int32_t> expected_of(std::string_view data);

/// Tickets that one transaction creates.
struct Tickets {
  std::int32_t first = 0;
  std::int32_t count = 0;

  friend bool operator==(const Tickets&, const Tickets&) = default;
};
/// The tickets of `arrivals` further arrivals, after `before` ones; none if the latch is open.
[[nodiscard]] Tickets next_tickets(std::int32_t expected, std::int32_t before,
                                   std::int32_t arrivals) noexcept;

/// Creates the tickets, if none of them exists and the ticket before them does: so the numbers have
/// no gaps.
[[nodiscard]] Transaction create_tickets(const std::string& latch, const Tickets& tickets,
                                         const std::string& arriver);

/// Whose tickets exist, after a reply to the transaction was lost.
enum class TicketsOf : std::uint8_t {
  arriver,  ///< the transaction was applied
  others,   ///< the transaction was not applied, and never will be: the numbers are taken
  nobody,   ///< it was not applied yet: the same transaction, sent again, is applied at most once
};
/// `data` are those of the first ticket; nothing if that node does not exist.
[[nodiscard]] TicketsOf tickets_of(const std::optional<std::string>& data,
                                   std::string_view arriver) noexcept;

}  // namespace custodian::recipes_detail
