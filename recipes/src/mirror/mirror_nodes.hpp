#pragma once

/// \file
/// MirrorNodes keeps the nodes of a mirror, which are found by number or by path. Pure.
///
/// A path is stored once, by its MirroredNode. A node refers to its parent and its children by
/// numbers, and not by pointers, since a large tree has many of these references.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/mirror/mirrored_node.hpp"

namespace custodian::recipes_detail {

/// The state of one fact about a node: its data, or the list of its children. Either a watch covers
/// the fact that was read (`armed`), or the fact will be read again (`dirty`, `reading`), or it
/// cannot be read (`refused`).
struct MirrorFacet {
  bool armed = false;     ///< a watch ends when the fact changes
  bool dirty = false;     ///< to be read, or to be read again
  bool queued = false;    ///< in the queue of reads
  bool reading = false;   ///< a read is under way
  bool seen = false;      ///< was read in this session
  bool in_walk = false;   ///< the first walk of this session waits for it
  bool refused = false;   ///< the servers do not let the client read it
  bool outdated = false;  ///< the watch is armed on an earlier node of this name
};

/// A node that a mirror knows, or is about to read.
struct MirrorSlot {
  /// The path is always set; the rest only if `is_known`.
  std::shared_ptr<MirroredNode> node{};
  std::vector<std::uint32_t> children{};  ///< in the order of their names
  std::int64_t listed_pzxid = 0;          ///< pzxid of the listing that `children` come from
  std::uint32_t parent = 0;
  std::uint32_t generation = 0;  ///< grows each time that the slot is freed
  std::uint32_t level = 0;       ///< 0 is the mirror's own path
  bool is_used = false;
  bool is_known = false;      ///< the node was read, and is part of the mirror
  bool by_existence = false;  ///< the next read asks for the existence, not for the data
  /// The node was deleted. A read will show whether there is another one of its name.
  bool in_doubt = false;
  MirrorFacet data{};
  MirrorFacet listing{};
};

class MirrorNodes {
 public:
  using Index = std::uint32_t;
  static constexpr Index root = 0;

  explicit MirrorNodes(std::string root_path);

  [[nodiscard]] MirrorSlot& at(Index index) { return slots_[index]; }
  [[nodiscard]] const MirrorSlot& at(Index index) const { return slots_[index]; }
  /// Whether the slot still has the node that it had in this generation.
  [[nodiscard]] bool is_current(Index index, std::uint32_t generation) const {
    return slots_[index].is_used && slots_[index].generation == generation;
  }
  /// The number of nodes, with those that are not read yet.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::string_view name_of(Index index) const;

  /// Finds a node by its path; nothing if there is none.
  [[nodiscard]] std::optional<Index> find(std::string_view path) const;
  /// Makes a node. It is not among its parent's children yet.
  Index make_child(Index parent, std::string_view name);
  /// Takes a node from its parent's children.
  void detach(Index index);
  /// Frees the slot of a node that has no children and was detached.
  void free(Index index);

  /// Calls `visit(index)` for every node: parents first, children by name.
  template <typename Visit>
  void for_each(Visit visit) const {
    std::vector<Index> next{root};
    while (!next.empty()) {
      const Index index = next.back();
      next.pop_back();
      visit(index);
      const auto& children = slots_[index].children;
      next.insert(next.end(), children.rbegin(), children.rend());
    }
  }
  /// The nodes below this one: children before their parents.
  [[nodiscard]] std::vector<Index> below(Index index) const;

 private:
  [[nodiscard]] std::vector<Index>::const_iterator child_at(const MirrorSlot& parent,
                                                            std::string_view name) const;

  std::deque<MirrorSlot> slots_;  ///< a deque, since a vector might reserve twice the memory
  std::vector<Index> free_;
  std::size_t size_ = 1;
};

}  // namespace custodian::recipes_detail
