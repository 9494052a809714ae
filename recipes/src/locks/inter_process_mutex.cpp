#include "custodian/locks/inter_process_mutex.hpp"

#include "kept/kept_locks.hpp"
#include "locks/lock_holds.hpp"

namespace custodian {

using recipes_detail::ContenderKind;
using recipes_detail::make_kept_lock_spec;
using recipes_detail::mutex_rule;
using recipes_detail::observed_mutex;

InterProcessMutex::InterProcessMutex(const Client& client, std::string path, LockOptions options)
    : InterProcessLock{
          make_kept_lock_spec(client, observed_mutex, mutex_rule, ContenderKind::exclusive,
                              std::move(path), std::move(options)),
          std::make_shared<recipes_detail::LockHolds>()} {}

}  // namespace custodian
