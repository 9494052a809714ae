#pragma once

/// \file
/// CMulti is a transaction in the C client's form. Only the files of CClient include it.

#include <string>
#include <vector>

#include "custodian/session/session.hpp"
#include "session/c_codec.hpp"

namespace custodian::detail {

/// *CMulti* is one transaction, with the memory that the C client writes its results into. It
/// points into the request, which must live until submit() has returned.
class CMulti {
 public:
  /// Whether the C client accepts each operation. If the C client refuses one, it frees those that
  /// it has linked already: so it must not get such a transaction. Operations on containers and TTL
  /// nodes are not accepted either, because the C client misreads the replies.
  [[nodiscard]] static bool accepts(const request::Multi& multi);

  explicit CMulti(const request::Multi& multi);
  CMulti(const CMulti&) = delete;
  CMulti& operator=(const CMulti&) = delete;
  ~CMulti() = default;

  /// Returns the C client's own code.
  [[nodiscard]] int submit(zhandle_t* handle, void_completion_t completion, const void* context);
  /// The results of a transaction that has completed with this code.
  [[nodiscard]] std::vector<TransactionResult> results(int code) const;

 private:
  void add(std::size_t place, const request::Create& create);
  void add(std::size_t place, const request::Set& set);
  void add(std::size_t place, const request::Remove& remove);
  void add(std::size_t place, const transaction::Check& check);

  std::vector<zoo_op_t> operations_;
  std::vector<zoo_op_result_t> results_;
  std::vector<std::string> paths_;
  std::vector<::Stat> stats_;
  std::vector<CAcl> acls_;  ///< reserved in full at first: the operations point into it
};

}  // namespace custodian::detail
