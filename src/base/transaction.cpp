#include "custodian/transaction.hpp"

namespace custodian {

TransactionOperation create(std::string path, std::string data, CreateMode mode,
                            std::optional<Acl> acl) {
  return transaction::Create{std::move(path), std::move(data), mode, std::move(acl)};
}

TransactionOperation set(std::string path, std::string data, std::int32_t version) {
  return transaction::Set{std::move(path), std::move(data), version};
}

TransactionOperation remove(std::string path, std::int32_t version) {
  return transaction::Remove{std::move(path), version};
}

TransactionOperation check(std::string path, std::int32_t version) {
  return transaction::Check{std::move(path), version};
}

}  // namespace custodian
