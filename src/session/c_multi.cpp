#include "session/c_multi.hpp"

#include <algorithm>
#include <variant>

#include "base/paths.hpp"

namespace custodian::detail {

namespace {

int size(const std::string& data) { return static_cast<int>(data.size()); }

struct Accepts {
  template <typename Operation>
  bool operator()(const Operation& operation) const {
    return !path_fault(operation.path);
  }
  bool operator()(const request::Create& create) const {
    const auto kind = is_sequential(create.mode) ? PathKind::sequential_prefix : PathKind::plain;
    return !path_fault(create.path, kind) && !has_ttl(create.mode) &&
           create.mode != CreateMode::container;
  }
};

}  // namespace

bool CMulti::accepts(const request::Multi& multi) {
  return !multi.operations.empty() && std::ranges::all_of(multi.operations, [](const auto& each) {
    return std::visit(Accepts{}, each);
  });
}

CMulti::CMulti(const request::Multi& multi)
    : operations_(multi.operations.size()),
      results_(multi.operations.size()),
      paths_(multi.operations.size()),
      stats_(multi.operations.size()) {
  acls_.reserve(multi.operations.size());
  for (std::size_t i = 0; i < multi.operations.size(); ++i) {
    std::visit([this, i](const auto& each) { add(i, each); }, multi.operations[i]);
  }
}

void CMulti::add(std::size_t place, const request::Create& create) {
  // The C client copies the path that the server has chosen into `path`.
  constexpr std::size_t sequence_digits = 10;
  std::string& path = paths_[place];
  path.resize(create.path.size() + sequence_digits + 2);
  zoo_create_op_init(&operations_[place], create.path.c_str(), create.data.data(),
                     size(create.data), acls_.emplace_back(create.acl).get(), to_flags(create.mode),
                     path.data(), size(path));
}

void CMulti::add(std::size_t place, const request::Set& set) {
  zoo_set_op_init(&operations_[place], set.path.c_str(), set.data.data(), size(set.data),
                  set.version, &stats_[place]);
}

void CMulti::add(std::size_t place, const request::Remove& remove) {
  zoo_delete_op_init(&operations_[place], remove.path.c_str(), remove.version);
}

void CMulti::add(std::size_t place, const transaction::Check& check) {
  zoo_check_op_init(&operations_[place], check.path.c_str(), check.version);
}

int CMulti::submit(zhandle_t* handle, void_completion_t completion, const void* context) {
  return zoo_amulti(handle, static_cast<int>(operations_.size()), operations_.data(),
                    results_.data(), completion, context);
}

std::vector<TransactionResult> CMulti::results(int code) const {
  std::vector<TransactionResult> all;
  all.reserve(results_.size());
  for (const zoo_op_result_t& result : results_) {
    TransactionResult ours;
    // In a result, this code means that the operation was rolled back with the others. to_error()
    // would turn the code into an unknown outcome.
    ours.error = result.err == ZRUNTIMEINCONSISTENCY
                     ? make_error_code(ServerErrc::runtime_inconsistency)
                     : to_error(result.err);
    if (code == ZOK && result.value != nullptr) ours.path = result.value;
    if (code == ZOK && result.stat != nullptr) ours.stat = to_stat(*result.stat);
    all.push_back(std::move(ours));
  }
  return all;
}

}  // namespace custodian::detail
