#pragma once

/// \file
/// The codec converts between the C client's structures and ours. Only the files of CClient include
/// it.

#include <zookeeper/zookeeper.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "custodian/session/session.hpp"

namespace custodian::detail {

[[nodiscard]] error_code to_error(int code) noexcept;
[[nodiscard]] custodian::Stat to_stat(const ::Stat& stat);
/// These functions throw if the C client has left out a part of a reply, as it does when the reply
/// ends too early.
[[nodiscard]] Acl to_acl(const ACL_vector& acl);
[[nodiscard]] std::vector<std::string> to_strings(const String_vector& strings);
template <typename Type>
[[nodiscard]] const Type& present(const Type* pointer) {
  if (pointer == nullptr) throw std::invalid_argument{"a part of a reply is missing"};
  return *pointer;
}
[[nodiscard]] int to_flags(CreateMode mode) noexcept;

/// A list of ACL entries in the C client's form; it points into the Acl that it was made from.
class CAcl {
 public:
  explicit CAcl(const Acl& acl);
  [[nodiscard]] const ACL_vector* get() const noexcept { return &vector_; }

 private:
  std::vector<ACL> entries_;
  ACL_vector vector_{};
};

}  // namespace custodian::detail
