#pragma once

/// \file
/// ReplyCheck judges what a server sends on one connection. Pure: it gets bytes and keeps none.
///
/// The C client believes its server. A reply that nobody asked for ends the process; one that is
/// shorter than its kind makes the library free what is on its stack; a vector's count is allocated
/// before anything is compared with it. So each frame is looked at before the library reads it, by
/// the same steps by which the library will: what is accepted here stays within its frame there.
/// What a well-formed reply *says* is the server's business.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/session/session.hpp"

namespace custodian::detail {

class JuteReader;

/// The body of a reply without an error.
enum class ReplyBody {
  nothing,
  path,
  path_and_stat,
  stat,
  data_and_stat,
  names_and_stat,
  acl_and_stat,
  results
};

struct ExpectedReply {
  ReplyBody body = ReplyBody::nothing;
  std::vector<ReplyBody> results{};  ///< of a transaction: what each of its operations answers
};

[[nodiscard]] ExpectedReply expected_reply(const Request& request);

/// The verdict about the front of the bytes.
struct Finding {
  enum class Kind {
    good,     ///< a frame that the library may read
    partial,  ///< not enough to tell
    fault     ///< a frame that the library must not read
  };
  Kind kind = Kind::partial;
  std::size_t size = 0;  ///< of the whole frame, its length included; of a partial one at least
  std::string fault{};   ///< what is wrong, as the object of "the server sent"
};

class ReplyCheck {
 public:
  /// Servers know no bound for their replies, and a listing of a million locks' names has some 60
  /// MB. Java's clients refuse more than 4 MiB unless told otherwise.
  static constexpr std::size_t longest_frame = std::size_t{64} << 20U;

  /// `credentials`: how many are presented to each server; their answers are recognised.
  explicit ReplyCheck(std::size_t credentials) : credentials_{credentials} {}

  /// A connection has ended: the next frame is a handshake. `session`: that is asked for, or 0.
  void connect(std::int64_t session);
  /// A request is about to be sent.
  void expect(ExpectedReply reply);
  /// It was not sent.
  void withdraw() { expected_.pop_back(); }
  /// One more credential is about to be presented, on this connection and on later ones.
  void expect_credential() { ++credentials_; }

  /// Whether the server has answered anything on this connection: a request, a ping, or the one
  /// that restores the watches.
  [[nodiscard]] bool heard() const noexcept { return heard_; }

  /// Judges the frame at the front. A good one counts as read.
  [[nodiscard]] Finding examine(std::string_view bytes);
  /// The same by the beginning of a frame that cannot be seen as a whole: the rest may be wrong,
  /// but does no harm.
  [[nodiscard]] Finding examine_beginning(std::string_view bytes);

 private:
  [[nodiscard]] Finding measure(std::string_view bytes) const;
  [[nodiscard]] Finding judge(std::string_view bytes, std::size_t size);
  [[nodiscard]] std::string handshake_fault(JuteReader& frame) const;
  [[nodiscard]] std::string frame_fault(JuteReader& frame);
  [[nodiscard]] std::string reply_fault(JuteReader& frame, std::int32_t error) const;

  std::size_t credentials_;
  std::int64_t session_ = 0;
  bool connected_ = false;  ///< the handshake has been answered
  bool heard_ = false;      ///< and something after it
  std::deque<ExpectedReply> expected_;
};

}  // namespace custodian::detail
