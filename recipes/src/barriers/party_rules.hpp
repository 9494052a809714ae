#pragma once

/// \file
/// The rules of a double barrier's party. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/node.hpp"
#include "custodian/transaction.hpp"

namespace custodian::recipes_detail {

/// The name of the node that shows that a party is complete.
inline constexpr std::string_view ready_name = "ready";

/// The members among a barrier's children, in the order of their names, as in Curator and kazoo.
[[nodiscard]] std::vector<std::string> members_of(std::vector<std::string> names);

/// How many processes have created these members. All nodes of one DistributedDoubleBarrier object
/// end with the same name. So a node that the object has given up, and that is not deleted yet, is
/// not counted beside its next one. Each node of another library counts as one process.
[[nodiscard]] std::size_t count_members(const std::vector<std::string>& members);

/// The data of a ready node: the members that it counts.
[[nodiscard]] std::string ready_data(const std::vector<std::string>& members);
/// Completes a party: checks that each member is there, creates the ready node, and writes the
/// barrier's data. Transactions that rely on the present members check the version of these data.
[[nodiscard]] Transaction completing(const std::string& path,
                                     const std::vector<std::string>& members);
/// The data of a ready node with one more member, and without those that are not listed any more.
/// `listed` must be in the order of the names. Data of another library stay as they are.
[[nodiscard]] std::string joined(std::string ready, std::string_view member,
                                 const std::vector<std::string>& listed);

/// Whether a party has counted a member that waits, or has waited.
enum class Counted : std::uint8_t {
  yes,
  no,       ///< the party was complete without it
  perhaps,  ///< unknown: another library has written the data, and the member was there before
};
/// Whether a ready node counts a member. `member` is the name of the member's node, which the
/// transaction `czxid` has created.
[[nodiscard]] Counted counted_by(const GetResult& ready, std::string_view member,
                                 std::int64_t czxid);

/// The barrier's node at a moment at which a member's node existed and no party counted it.
struct Standing {
  std::int64_t barrier = 0;  ///< the barrier's czxid; 0: there is no such moment
  std::int32_t version = 0;
};
/// Whether a party has counted a member whose node is gone, by the barrier's node. Each party, and
/// each member that joins one, changes the version of the data by one. `perhaps`: data in between
/// may have named the member; or the barrier's node is missing, or another one.
[[nodiscard]] Counted counted_since(const Standing& standing,
                                    const std::optional<GetResult>& barrier,
                                    std::string_view member, std::int64_t czxid);

/// The state of a party by its ready node, for a member that it does not count.
enum class PartyState : std::uint8_t {
  under_way,  ///< a member that the ready node counts is left
  over,       ///< no member that it counts is left: all have crashed
  unknown,    ///< another library has created the ready node, which does not name its members
};
[[nodiscard]] PartyState state_of(std::string_view ready, const std::vector<std::string>& members);
/// The first of these members that a ready node of this library counts; empty if it counts none.
[[nodiscard]] std::string first_counted(std::string_view ready,
                                        const std::vector<std::string>& members);

/// The listed members that are in the party of this ready node: those that it names, and those of
/// another library, which may have joined without being named. A member of this library that is not
/// named has not joined yet: it may be waiting for the next party.
[[nodiscard]] std::vector<std::string> in_party(std::string_view ready,
                                                std::vector<std::string> members);

/// The next step of a member that leaves.
struct Leaving {
  bool is_over = false;  ///< this member and all others have left
  bool is_last = false;  ///< it removes its node and the ready node
  bool removes_own_node = false;
  std::string waits_for{};  ///< the member whose end it waits for; empty if it waits for none
};
/// The lowest member waits for the highest. Every other member leaves, and waits for the lowest.
/// `own` is not among the members any more once it has left.
[[nodiscard]] Leaving next_of_leaving(const std::vector<std::string>& members,
                                      std::string_view own);

}  // namespace custodian::recipes_detail
