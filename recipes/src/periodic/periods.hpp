#pragma once

/// \file
/// Periods has the data that OncePerPeriod shares with its coroutines; look() reads the record and
/// the clock.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "custodian/authoring/result.hpp"
#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/periodic/once_per_period.hpp"
#include "periodic/period_rules.hpp"

namespace custodian::recipes_detail {

struct Periods {
  Client client;
  std::string path;
  std::string record;
  std::string clock;
  InterProcessMutex lock;
  PeriodTerms terms;
  std::string identity;
};

/// The record at a moment, and the servers' time at that moment.
struct RecordSight {
  std::optional<PeriodRun> last{};
  std::int32_t version = 0;
  ServerTime now{};
};

/// Reads the record, and whether the lock of a run without an end is still held.
[[nodiscard]] boost::asio::awaitable<Result<RecordSight>> read_record(PeriodsPtr periods,
                                                                      CancellationPtr cancellation,
                                                                      OperationOptions limits);

/// Reads the servers' time, by a write, and then the record, which is no older than that write.
[[nodiscard]] boost::asio::awaitable<Result<RecordSight>> look(PeriodsPtr periods,
                                                               CancellationPtr cancellation,
                                                               OperationOptions limits);

/// Whether a write with this error may have been applied, and there is time left to look, or to
/// repeat the write.
[[nodiscard]] inline bool is_doubtful(const error_code& error) noexcept {
  if (error == Errc::deadline_exceeded_outcome_unknown) return false;
  return error == ErrorCondition::outcome_unknown || error == Errc::session_lost ||
         error == ServerErrc::session_expired;
}

/// Pauses before another try, by the policy of `limits`. Returns `error` if that allows no other
/// try.
[[nodiscard]] boost::asio::awaitable<error_code> pause_after(PeriodsPtr periods, error_code error,
                                                             int failures,
                                                             CancellationPtr cancellation,
                                                             OperationOptions limits);

}  // namespace custodian::recipes_detail
