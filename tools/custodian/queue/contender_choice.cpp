#include "queue/contender_choice.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "options/usage_error.hpp"
#include "text/printable_text.hpp"

namespace custodian::cli {

std::vector<Inspected> holders_of(const Inspection& inspection) {
  std::vector<Inspected> holders;
  std::ranges::copy_if(inspection.contenders, std::back_inserter(holders),
                       [](const Inspected& each) { return each.standing != Standing::waits; });
  return holders;
}

std::optional<Inspected> find_contender(const Inspection& inspection, const std::string& path,
                                        std::string_view node) {
  const std::string below = path == "/" ? "/" : path + '/';
  const std::string whole = node.starts_with('/') ? std::string{node} : below + std::string{node};
  const auto found = std::ranges::find(inspection.contenders, whole,
                                       [](const Inspected& each) { return each.participant.node; });
  if (found == inspection.contenders.end()) return std::nullopt;
  return *found;
}

std::int64_t parse_session(std::string_view text) {
  const std::string_view digits = text.starts_with("0x") ? text.substr(2) : text;
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id, 16);
  if (error != std::errc{} || end != digits.data() + digits.size() || id == 0) {
    throw UsageError{printable(text) +
                     " is no session: its id reads 0x100000a3f2b0001, as inspect shows it"};
  }
  return static_cast<std::int64_t>(id);
}

std::vector<Inspected> heirs_of(const Inspection& inspection, const Inspected& gone) {
  std::vector<Inspected> heirs;
  const bool is_lock = gone.claim != Claim::permit && gone.claim != Claim::turn;
  if (gone.standing == Standing::waits || !is_lock) return heirs;
  std::ranges::copy_if(inspection.contenders, std::back_inserter(heirs),
                       [](const Inspected& each) { return each.ahead == 1; });
  return heirs;
}

}  // namespace custodian::cli
