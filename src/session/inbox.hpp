#pragma once

/// \file
/// Inbox checks the input of the C client's socket while it is still in the kernel, before the
/// C client may read it. A partial frame is left there until it is whole.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "session/reply_check.hpp"

namespace custodian::detail {

class Inbox {
 public:
  /// A frame of at most this many bytes is checked as a whole, a longer one only at its beginning.
  /// Only a listing or a long ACL can be longer: unless configured otherwise, servers refuse nodes
  /// and requests of more than 1 MiB.
  static constexpr std::size_t longest_whole = std::size_t{2} << 20U;

  /// How much of a longer frame is checked.
  static constexpr std::size_t enough_of_a_long_one = std::size_t{16} << 10U;

  explicit Inbox(std::size_t credentials) : check_{credentials} {}

  // These calls record the requests that the C client has sent, and the end of its connection.
  void expect(const Request& request) { check_.expect(expected_reply(request)); }
  void expect_no_body() { check_.expect({}); }
  void withdraw() { check_.withdraw(); }
  void expect_credential() { check_.expect_credential(); }
  void disconnected(std::int64_t session);

  enum class Next {
    wait,    ///< there is nothing to read now
    read,    ///< the C client may read one frame, or the connection's end
    broken,  ///< the connection has ended within a frame
    fault    ///< the C client must not read on; see fault()
  };
  [[nodiscard]] Next next(int descriptor);
  /// Checks a frame that is longer than the socket can hold: the link passes the whole frame here,
  /// and afterwards writes it to the socket in parts. The C client must have read all frames before
  /// it. Returns whether the frame is good; after a bad one, next() returns `fault`.
  [[nodiscard]] bool accepts_ahead(std::string_view frame);
  /// The C client has read a whole frame, or a part of one.
  enum class Read { whole_frame, part };
  void has_read(Read read);
  /// The next call of next() looks at the socket, which may have new input.
  void look_again() noexcept { drained_ = false; }
  /// Called when other code waits for the socket from now on: any byte must make it readable again.
  void leave(int descriptor);
  /// Frees the memory that a large frame needed.
  void tidy();

  /// Whether the server has answered anything since the handshake.
  [[nodiscard]] bool has_answer() const noexcept { return check_.heard(); }
  /// See ReplyCheck::take_want_of_authentication().
  [[nodiscard]] bool take_want_of_authentication() noexcept {
    return check_.take_want_of_authentication();
  }
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

 private:
  [[nodiscard]] Next look(int descriptor);
  [[nodiscard]] Next look_at_part(int descriptor, std::string_view bytes, std::size_t size);
  /// Asks the kernel to make the socket readable only when this many bytes have arrived, and to
  /// make room for them; with 0, at any byte. Returns whether the kernel can.
  bool ask_for(int descriptor, std::size_t bytes);

  static constexpr std::size_t usual_size = enough_of_a_long_one;

  ReplyCheck check_;
  std::vector<char> buffer_;
  std::string fault_;
  std::size_t good_frames_ = 0;  ///< checked, and not read yet
  std::size_t awaited_ = 0;      ///< the bytes that the kernel was asked to wait for; 0: any
  bool in_frame_ = false;        ///< the C client has read a part of a frame
  bool drained_ = false;         ///< there was no input behind the good frames
};

}  // namespace custodian::detail
