#pragma once

/// \file
/// ReplyCheck judges what a server sends on one connection. Pure: the caller passes the bytes in,
/// and none are kept.
///
/// The C client trusts its server. A reply that no request asked for ends the process; one that is
/// too short for its kind makes the C client free memory on its stack; a vector's count is
/// allocated before it is compared with anything. So ReplyCheck walks through each frame before the
/// C client reads it, by the steps that the C client will take: they stay within an accepted frame.
/// Whether a well-formed reply *says* something sensible is the server's business.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
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
  std::vector<ReplyBody> results{};  ///< for a transaction: the body of each operation's result
};

[[nodiscard]] ExpectedReply expected_reply(const Request& request);

/// The verdict about the frame at the front of the bytes.
struct Finding {
  enum class Kind {
    good,     ///< a frame that the C client may read
    partial,  ///< too few bytes to decide
    fault     ///< a frame that the C client must not read
  };
  Kind kind = Kind::partial;
  /// The size of the whole frame, with its length field; of a partial frame, a lower bound.
  std::size_t size = 0;
  std::string fault{};  ///< what is wrong, as the object of "the server sent"
};

/// Whether `frames`, up to the first answer to a request, say that the server works only for
/// clients that authenticate. `frames` are what a connection brought after its handshake; nothing
/// is read from a frame that is not complete.
[[nodiscard]] bool refuses_unauthenticated(std::string_view frames);

class ReplyCheck {
 public:
  /// The longest frame that is accepted. Servers do not bound their replies, and a listing of a
  /// million locks' names has some 60 MB. Java's clients refuse more than 4 MiB unless configured
  /// otherwise.
  static constexpr std::size_t longest_frame = std::size_t{64} << 20U;

  /// `credentials` is the number of those that are presented to each server. Without any, an answer
  /// to credentials is a fault.
  explicit ReplyCheck(std::size_t credentials) : credentials_{credentials} {}

  /// A connection has ended: the next frame is a handshake. `session` is the id that the handshake
  /// asks for; 0 for a new session.
  void connect(std::int64_t session);
  /// A request is about to be sent.
  void expect(ExpectedReply reply);
  /// The request of the last expect() was not sent.
  void withdraw() { expected_.pop_back(); }
  /// One more credential is about to be presented, on this connection and on later ones.
  void expect_credential() { ++credentials_; }

  /// Whether the server has answered anything on this connection: a request, a ping, or the request
  /// that restores the watches.
  [[nodiscard]] bool heard() const noexcept { return heard_; }

  /// Whether the server has said since the last call that it works only for clients that
  /// authenticate, in an answer to a request of the C client's own: a ping, or the one that
  /// restores the watches.
  [[nodiscard]] bool take_want_of_authentication() noexcept {
    return std::exchange(wants_authentication_, false);
  }

  /// Judges the frame at the front. A good frame counts as read.
  [[nodiscard]] Finding examine(std::string_view bytes);
  /// Judges, by its beginning, a frame that cannot be seen as a whole: the rest may be wrong, but
  /// does no harm.
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
  bool heard_ = false;      ///< the server has answered something since the handshake
  bool wants_authentication_ = false;
  std::deque<ExpectedReply> expected_;
};

}  // namespace custodian::detail
