#include "session/reply_check.hpp"

#include <limits>
#include <utility>

#include "session/jute_reader.hpp"

namespace custodian::detail {
namespace {

constexpr std::size_t length_field = 4;
constexpr std::size_t password_size = 16;
constexpr std::size_t stat_size = 68;

/// The size of an answer to a handshake. Its last byte says whether the server is read-only.
/// Servers before 3.4 leave that byte out: the C client would take the first byte of the next frame
/// for it, and read everything behind it one byte off from what was checked here. Such servers are
/// refused.
constexpr std::int32_t greeting_size = 37;

// The request numbers of frames that answer no numbered request.
constexpr std::int32_t watch_event = -1;
constexpr std::int32_t ping = -2;
constexpr std::int32_t credential = -4;
constexpr std::int32_t watches_set = -8;

/// The C client computes with thirds of the timeout in 32 bits, which a longer one could overflow.
constexpr std::int32_t longest_timeout = std::numeric_limits<std::int32_t>::max() / 2;

void walk(JuteReader& frame, ReplyBody body) {
  switch (body) {
    case ReplyBody::nothing:
    case ReplyBody::results: return;
    case ReplyBody::path: return frame.string();
    case ReplyBody::stat: return frame.skip(stat_size);
    case ReplyBody::path_and_stat: frame.string(); break;
    case ReplyBody::data_and_stat: frame.buffer(); break;
    case ReplyBody::names_and_stat: {
      const std::int32_t names = frame.count(sizeof(std::int32_t));
      for (std::int32_t i = 0; i < names && frame.good(); ++i) frame.string();
      break;
    }
    case ReplyBody::acl_and_stat: {
      const std::int32_t entries = frame.count(3 * sizeof(std::int32_t));
      for (std::int32_t i = 0; i < entries && frame.good(); ++i) {
        frame.skip(sizeof(std::int32_t));  // permissions
        frame.string();                    // scheme
        frame.string();                    // id
      }
      break;
    }
  }
  frame.skip(stat_size);
}

bool wants_authentication(std::int32_t error) {
  return error_code{error, server_category()} == ServerErrc::session_closed_require_sasl_auth;
}

/// Each result follows a header of its own, and a last header says that there are no more.
void walk_results(JuteReader& frame, const std::vector<ReplyBody>& results) {
  constexpr std::int32_t failed = -1;
  const auto header = [&frame](std::int32_t& type) {
    type = frame.number();
    const bool done = frame.boolean();
    frame.skip(sizeof(std::int32_t));  // an error, which a failed result repeats
    return done;
  };
  std::int32_t type = 0;
  for (const ReplyBody result : results) {
    if (header(type)) return frame.fail();
    if (type == failed) {
      frame.skip(sizeof(std::int32_t));
    } else {
      walk(frame, result);
    }
  }
  if (!header(type)) frame.fail();
}

}  // namespace

ExpectedReply expected_reply(const Request& request) {
  struct Visitor {
    ExpectedReply operator()(const request::Create&) const { return {ReplyBody::path_and_stat}; }
    ExpectedReply operator()(const request::Remove&) const { return {ReplyBody::nothing}; }
    ExpectedReply operator()(const request::Exists&) const { return {ReplyBody::stat}; }
    ExpectedReply operator()(const request::Get&) const { return {ReplyBody::data_and_stat}; }
    ExpectedReply operator()(const request::Set&) const { return {ReplyBody::stat}; }
    ExpectedReply operator()(const request::GetChildren&) const {
      return {ReplyBody::names_and_stat};
    }
    ExpectedReply operator()(const request::GetAcl&) const { return {ReplyBody::acl_and_stat}; }
    ExpectedReply operator()(const request::SetAcl&) const { return {ReplyBody::nothing}; }
    ExpectedReply operator()(const request::Sync&) const { return {ReplyBody::path}; }
    ExpectedReply operator()(const request::Multi& multi) const {
      ExpectedReply reply{ReplyBody::results};
      reply.results.reserve(multi.operations.size());
      for (const auto& operation : multi.operations) {
        reply.results.push_back(std::holds_alternative<request::Create>(operation) ? ReplyBody::path
                                : std::holds_alternative<request::Set>(operation)
                                    ? ReplyBody::stat
                                    : ReplyBody::nothing);
      }
      return reply;
    }
  };
  return std::visit(Visitor{}, request);
}

bool refuses_unauthenticated(std::string_view frames) {
  while (frames.size() >= length_field) {
    JuteReader head{frames, length_field};
    const std::int32_t length = head.number();
    frames.remove_prefix(length_field);
    if (length < 0 || static_cast<std::size_t>(length) > frames.size()) return false;
    JuteReader frame{frames, static_cast<std::size_t>(length)};
    const std::int32_t request = frame.number();
    frame.skip(sizeof(std::int64_t));  // transaction id
    const std::int32_t error = frame.number();
    if (!frame.good()) return false;
    if (wants_authentication(error)) return true;
    const bool answers_request = request >= 0 || request == watches_set;
    if (answers_request) return false;
    frames.remove_prefix(static_cast<std::size_t>(length));
  }
  return false;
}

void ReplyCheck::connect(std::int64_t session) {
  session_ = session;
  connected_ = false;
  heard_ = false;
  expected_.clear();
}

void ReplyCheck::expect(ExpectedReply reply) { expected_.push_back(std::move(reply)); }

Finding ReplyCheck::examine(std::string_view bytes) {
  Finding finding = measure(bytes);
  if (finding.kind != Finding::Kind::good) return finding;
  if (bytes.size() < finding.size) return {Finding::Kind::partial, finding.size};
  return judge(bytes.substr(0, finding.size), finding.size);
}

Finding ReplyCheck::examine_beginning(std::string_view bytes) {
  Finding finding = measure(bytes);
  if (finding.kind != Finding::Kind::good) return finding;
  return judge(bytes.substr(0, finding.size), finding.size);
}

Finding ReplyCheck::measure(std::string_view bytes) const {
  if (bytes.size() < length_field) return {Finding::Kind::partial, length_field};
  JuteReader reader{bytes, length_field};
  const std::int32_t length = reader.number();
  const bool plausible = connected_
                             ? length >= 0 && static_cast<std::size_t>(length) <= longest_frame
                             : length == greeting_size;
  if (!plausible) {
    return {Finding::Kind::fault, 0,
            (connected_ ? "a packet of " : "an answer to the handshake of ") +
                std::to_string(length) + " bytes"};
  }
  return {Finding::Kind::good, length_field + static_cast<std::size_t>(length)};
}

Finding ReplyCheck::judge(std::string_view bytes, std::size_t size) {
  const std::size_t length = size - length_field;
  JuteReader frame{bytes.substr(length_field), length};
  std::string fault = connected_ ? frame_fault(frame) : handshake_fault(frame);
  if (!fault.empty()) return {Finding::Kind::fault, size, std::move(fault)};
  connected_ = true;
  return {Finding::Kind::good, size};
}

std::string ReplyCheck::handshake_fault(JuteReader& frame) const {
  frame.skip(sizeof(std::int32_t));  // protocol version
  const std::int32_t timeout = frame.number();
  const std::int64_t session = frame.long_number();
  const std::int32_t password = frame.number();
  frame.skip(password_size);
  const bool read_only = frame.boolean();
  if (!frame.good() || password != static_cast<std::int32_t>(password_size)) {
    return "a handshake without a password";
  }
  // Any other id means that the session has expired: then the rest does not matter.
  if (session_ != 0 && session != session_) return {};
  if (session == 0) return "a handshake without a session";
  // With such a timeout, the C client would never wait for a connection again.
  if (timeout <= 0 || timeout > longest_timeout) {
    return "a session timeout of " + std::to_string(timeout) + " ms";
  }
  // With a read-only session, the C client would look for another server, and wait for it.
  if (read_only) return "a read-only session, which nobody asked for";
  return {};
}

std::string ReplyCheck::frame_fault(JuteReader& frame) {
  const std::int32_t request = frame.number();
  frame.skip(sizeof(std::int64_t));  // transaction id
  const std::int32_t error = frame.number();
  if (!frame.good()) return "a reply without a header";
  switch (request) {
    case ping:
    case watches_set:
      heard_ = true;
      // The C client ignores the error of these replies.
      wants_authentication_ = wants_authentication_ || wants_authentication(error);
      return {};
    case credential:
      return credentials_ > 0 ? std::string{} : "an answer to credentials that were not presented";
    case watch_event:
      frame.skip(2 * sizeof(std::int32_t));  // type and state
      frame.string();
      return frame.good() ? std::string{} : "a malformed event of a watch";
    default: break;
  }
  std::string fault = reply_fault(frame, error);
  // A faulty frame is not counted: it is judged again when the frames before it have been read.
  if (fault.empty()) {
    expected_.pop_front();
    heard_ = true;
  }
  return fault;
}

std::string ReplyCheck::reply_fault(JuteReader& frame, std::int32_t error) const {
  if (expected_.empty()) return "a reply that nobody asked for";
  const ExpectedReply& expected = expected_.front();
  // The C client compares the request numbers itself, and does not read the body of a failure.
  if (error != 0) return {};
  if (expected.body == ReplyBody::results) {
    walk_results(frame, expected.results);
    // The C client reads as many results as it has operations, without a check, so all must be
    // seen.
    if (frame.state() == JuteReader::State::unseen) return "too many results to look at";
  } else {
    walk(frame, expected.body);
  }
  return frame.state() == JuteReader::State::wrong ? "a malformed reply" : std::string{};
}

}  // namespace custodian::detail
