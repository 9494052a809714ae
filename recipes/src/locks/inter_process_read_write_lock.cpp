#include "custodian/locks/inter_process_read_write_lock.hpp"

#include "kept/kept_locks.hpp"
#include "locks/lock_holds.hpp"

namespace custodian {

using recipes_detail::ContenderKind;
using recipes_detail::LockHolds;
using recipes_detail::make_kept_lock_spec;
using recipes_detail::observed_reader;
using recipes_detail::observed_writer;
using recipes_detail::ObservedAs;
using recipes_detail::read_write_rule;

InterProcessReadWriteLock::InterProcessReadWriteLock(const Client& client, const std::string& path,
                                                     const LockOptions& options)
    : InterProcessReadWriteLock{client, path, options, std::make_shared<LockHolds>()} {}

InterProcessReadWriteLock::InterProcessReadWriteLock(const Client& client, const std::string& path,
                                                     const LockOptions& options,
                                                     const std::shared_ptr<LockHolds>& holds)
    : read_{make_kept_lock_spec(client, "InterProcessReadWriteLock", read_write_rule,
                                ContenderKind::shared, path, options,
                                ObservedAs{observed_reader, path}),
            holds},
      write_{make_kept_lock_spec(client, "InterProcessReadWriteLock", read_write_rule,
                                 ContenderKind::exclusive, path, options,
                                 ObservedAs{observed_writer, path}),
             holds} {}

}  // namespace custodian
