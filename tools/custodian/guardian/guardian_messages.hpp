#pragma once

/// \file
/// Orders and reports are the messages between the runner and its guardian, over a socket that
/// keeps messages apart. Both ends are the same program, so the messages are plain structs.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

namespace custodian::cli {

/// A message from the runner to the guardian.
struct Order {
  enum class Kind : std::int32_t {
    start,       ///< run the command; a line "NAME=value" for each variable follows this struct
    signal,      ///< pass on the signal
    proceed,     ///< continue the stopped command, with the terminal if it had asked for it and the
                 ///< runner has it; later reports return `number`
    hold_until,  ///< the lock is held at least until `time` (boot clock); lost then, unless renewed
    lost,        ///< end the command now
  };
  Kind kind{};
  std::int32_t signal = 0;
  std::uint64_t number = 0;
  std::chrono::nanoseconds time{};
  /// The time from the loss until the command is killed.
  std::chrono::nanoseconds grace{};
};

/// A message from the guardian to the runner.
struct Report {
  enum class Kind : std::int32_t {
    not_started,  ///< the command could not be run; `value` is errno
    stopped,  ///< the signal `value` stopped the command; if it asked for the terminal, it cannot
              ///< get it
    main_ended,  ///< the command has ended, but processes that it started have not
    forbidden,   ///< a process is another user's and cannot be signalled; sent only once
    ended,       ///< the command and all that it started have ended; `value` is the wait status
  };
  Kind kind{};
  std::int32_t value = 0;
  /// With `ended`: true if the guardian ended the command because the lock was lost.
  bool for_loss = false;
  /// With `stopped`: the number of the last `proceed` that was carried out before the stop.
  std::uint64_t proceeded = 0;
};

static_assert(std::is_trivially_copyable_v<Order> && std::is_trivially_copyable_v<Report>);

/// No message is longer, even with all the environment variables that an order brings.
inline constexpr std::size_t longest_message = std::size_t{64} * 1024;

template <typename Message>
[[nodiscard]] std::optional<Message> message_from(std::string_view bytes) {
  if (bytes.size() < sizeof(Message)) return std::nullopt;
  Message message;
  std::memcpy(&message, bytes.data(), sizeof message);
  return message;
}

template <typename Message>
[[nodiscard]] std::string_view bytes_of(const Message& message) {
  return {reinterpret_cast<const char*>(&message), sizeof message};
}

}  // namespace custodian::cli
