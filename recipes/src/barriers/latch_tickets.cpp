#include "barriers/latch_tickets.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "custodian/authoring/path.hpp"

namespace custodian::recipes_detail {

namespace {

constexpr std::size_t digits = 10;

/// The number, if it is the whole text and not negative.
std::optional<std::int32_t> whole_number(std::string_view text) {
  std::int32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::string ticket_name(std::int32_t number) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

std::optional<std::int32_t> ticket_number(std::string_view name) {
  if (name.size() != digits) return std::nullopt;
  return whole_number(name);
}

std::int32_t arrivals_of(const std::vector<std::string>& names) {
  // No arrival makes a ticket of the greatest number, but an operator might. One more would
  // overflow, so that ticket is ignored.
  constexpr std::int32_t greatest = std::numeric_limits<std::int32_t>::max() - 1;
  std::int32_t arrivals = 0;
  for (const std::string& name : names) {
    if (const auto number = ticket_number(name)) {
      arrivals = std::max(arrivals, std::min(*number, greatest) + 1);
    }
  }
  return arrivals;
}

std::string latch_data(std::int32_t expected) { return std::to_string(expected); }

std::optional<std::int32_t> expected_of(std::string_view data) { return whole_number(data); }

Tickets next_tickets(std::int32_t expected, std::int32_t before, std::int32_t arrivals) noexcept {
  return {before, std::clamp(arrivals, 0, std::max(0, expected - before))};
}

Transaction create_tickets(const std::string& latch, const Tickets& tickets,
                           const std::string& arriver) {
  Transaction transaction;
  if (tickets.first > 0) transaction.push_back(check(join(latch, ticket_name(tickets.first - 1))));
  for (std::int32_t i = 0; i < tickets.count; ++i) {
    transaction.push_back(create(join(latch, ticket_name(tickets.first + i)), arriver));
  }
  return transaction;
}

TicketsOf tickets_of(const std::optional<std::string>& data, std::string_view arriver) noexcept {
  if (!data) return TicketsOf::nobody;
  return *data == arriver ? TicketsOf::arriver : TicketsOf::others;
}

}  // namespace custodian::recipes_detail
