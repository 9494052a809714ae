#pragma once

/// \file
/// The rules of a double barrier's party, which read nothing and wait for nothing.

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

/// The members among a barrier's children, in the order of their names, which is that of Curator
/// and kazoo, too.
[[nodiscard]] std::vector<std::string> members_of(std::vector<std::string> names);

/// How many processes have created these members. A node's name ends with that of its
/// DistributedDoubleBarrier object, so a node that the object has given up, and that is not deleted
/// yet, is not counted beside its next one. Another library's node counts as one.
[[nodiscard]] std::size_t count_members(const std::vector<std::string>& members);

/// The data of a ready node: the members that it counts.
[[nodiscard]] std::string ready_data(const std::vector<std::string>& members);
/// Completes a party: checks that each member is there, creates the ready node, and writes the
/// barrier's data. Transactions that rely on the present members check the version of these data.
[[nodiscard]] Transaction completing(const std::string& path,
                                     const std::vector<std::string>& members);
/// The same data with one more member, and without those that are not listed any more: `listed` are
/// in the order of their names. The data of another library stay as they are.
[[nodiscard]] std::string joined(std::string ready, std::string_view member,
                                 const std::vector<std::string>& listed);

/// What is known about a member that waits, or has waited.
enum class Counted : std::uint8_t {
  yes,
  no,       ///< the party was complete without it
  perhaps,  ///< it cannot be known: of another library's, if the member was there before
};
/// What a ready node says. `member` is the name of a node that was created by the transaction
/// `czxid`.
[[nodiscard]] Counted counted_by(const GetResult& ready, std::string_view member,
                                 std::int64_t czxid);

/// The barrier's node at a moment at which no party counted a member that was there.
struct Standing {
  std::int64_t barrier = 0;  ///< the transaction that has created it; 0: there is no such moment
  std::int32_t version = 0;
};
/// What the barrier's node says about a member whose node is gone. Each party, and each member that
/// joins one, changes the data by one version. `perhaps`: they may have named it in between, and do
/// not any more; or the node is missing, or another one.
[[nodiscard]] Counted counted_since(const Standing& standing,
                                    const std::optional<GetResult>& barrier,
                                    std::string_view member, std::int64_t czxid);

/// What a ready node says about its party, to one that is not counted.
enum class PartyState : std::uint8_t {
  under_way,  ///< a member that it counts is there
  over,       ///< none is: all have crashed
  unknown,    ///< another library has created it, and says nothing
};
[[nodiscard]] PartyState state_of(std::string_view ready, const std::vector<std::string>& members);
/// The first of these members that a ready node of this library counts; empty if it counts none.
[[nodiscard]] std::string first_counted(std::string_view ready,
                                        const std::vector<std::string>& members);

/// The listed members that are in a party with this ready node: those that it names, and another
/// library's, which is not named if it has joined. A member of this library that has not joined yet
/// is not in: it may be waiting for the next party.
[[nodiscard]] std::vector<std::string> in_party(std::string_view ready,
                                                std::vector<std::string> members);

/// What a member that leaves does next.
struct Leaving {
  bool is_over = false;  ///< all others have left, and it has left itself
  bool is_last = false;  ///< it removes its node, and the ready node
  bool removes_own_node = false;
  std::string waits_for{};  ///< the member whose end it waits for; empty if for none
};
/// The lowest member waits for the highest; the others leave, and wait for the lowest. `own` is not
/// among the members any more if it has left.
[[nodiscard]] Leaving next_of_leaving(const std::vector<std::string>& members,
                                      std::string_view own);

}  // namespace custodian::recipes_detail
