#include "session/sasl_exchange.hpp"

#include <boost/endian/conversion.hpp>
#include <utility>

#include "custodian/error.hpp"

namespace custodian::detail {
namespace {

constexpr std::size_t length_size = 4;
constexpr std::int32_t sasl_operation = 102;  // org.apache.zookeeper.ZooDefs.OpCode.sasl

std::int32_t number_at(std::string_view bytes, std::size_t at) {
  return boost::endian::load_big_s32(reinterpret_cast<const unsigned char*>(bytes.data() + at));
}

void append(std::string& bytes, std::int32_t number) {
  unsigned char text[sizeof number];
  boost::endian::store_big_s32(text, number);
  bytes.append(reinterpret_cast<const char*>(text), sizeof number);
}

/// The frame of a request that has a header and a buffer.
std::string request(std::int32_t number, std::string_view token) {
  constexpr std::size_t header = 3 * sizeof number;
  std::string frame;
  append(frame, static_cast<std::int32_t>(header + token.size()));
  append(frame, number);
  append(frame, sasl_operation);
  append(frame, static_cast<std::int32_t>(token.size()));
  return frame.append(token);
}

}  // namespace

SaslExchange::SaslExchange(std::unique_ptr<SaslClient> client) noexcept
    : client_{std::move(client)} {}

std::string SaslExchange::name() const {
  return "SASL (" + std::string{client_->mechanism()} + ")";
}

SaslExchange::Verdict SaslExchange::next(std::string_view bytes) {
  const std::string_view rest = bytes.substr(held_);
  if (rest.size() < length_size) return {};
  const std::int32_t length = number_at(rest, 0);
  if (length < 0 || static_cast<std::size_t>(length) > longest_frame) {
    return fail(Step::failed, "the server sent a frame of " + std::to_string(length) +
                                  " bytes, which is no " +
                                  (held_ == 0 ? "answer to a handshake" : "answer to a token"));
  }
  const std::size_t size = length_size + static_cast<std::size_t>(length);
  if (rest.size() < size) return {};
  const std::string_view frame = rest.substr(length_size, size - length_size);
  if (held_ == 0) return on_handshake(frame);
  Verdict verdict = on_reply(frame);
  verdict.used = size;
  return verdict;
}

SaslExchange::Verdict SaslExchange::on_handshake(std::string_view frame) {
  // The frame begins with the protocol's version, the timeout and the session's id.
  constexpr std::size_t session_at = 8;
  constexpr std::size_t least = session_at + sizeof(std::int64_t);
  if (frame.size() < least) {
    return fail(Step::failed, "the server's answer to the handshake is too short");
  }
  held_ = length_size + frame.size();
  // The id 0 means that the session has expired: the server ends the connection, and the C client
  // must get this answer.
  if (number_at(frame, session_at) == 0 && number_at(frame, session_at + 4) == 0) {
    return {Step::over};
  }
  return send(client_->first());
}

/// A reply is a header (the request's number, a transaction, an error) and a buffer, which may be
/// absent.
SaslExchange::Verdict SaslExchange::on_reply(std::string_view frame) {
  constexpr std::size_t error_at = 12;
  constexpr std::size_t token_at = error_at + 4 + 4;
  if (frame.size() < error_at + 4) return fail(Step::failed, "the server's answer is too short");
  if (number_at(frame, 0) != rounds_) {
    return fail(Step::failed, "the server answers a request that was not sent");
  }
  if (const error_code error{number_at(frame, error_at), server_category()}) {
    const bool refused =
        error == ServerErrc::auth_failed || error == ServerErrc::session_closed_require_sasl_auth;
    return fail(refused ? Step::refused : Step::failed,
                (refused ? "the server refuses this identity: " : "the server answers: ") +
                    error.message());
  }
  if (frame.size() < token_at) return fail(Step::failed, "the server's answer is too short");
  const std::int32_t length = number_at(frame, token_at - 4);
  const std::string_view rest = frame.substr(token_at);
  if (length < -1 || (length > 0 && static_cast<std::size_t>(length) > rest.size())) {
    return fail(Step::failed, "the server's token is longer than its frame");
  }
  return answer(rest.substr(0, length > 0 ? static_cast<std::size_t>(length) : 0));
}

SaslExchange::Verdict SaslExchange::answer(std::string_view challenge) {
  try {
    const std::optional<std::string> token = client_->respond(challenge);
    return token ? send(*token) : Verdict{Step::over};
  } catch (const SaslError& error) {
    return fail(error.kind() == SaslError::Kind::refused ? Step::refused : Step::failed,
                error.what());
  }
}

SaslExchange::Verdict SaslExchange::send(const std::string& token) {
  if (rounds_ == most_rounds) return fail(Step::failed, "the server asks without an end");
  return {Step::send, 0, request(++rounds_, token)};
}

SaslExchange::Verdict SaslExchange::fail(Step how, const std::string& reason) const {
  return {how, 0, name() + ": " + reason};
}

}  // namespace custodian::detail
