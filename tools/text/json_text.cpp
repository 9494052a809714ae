#include "text/json_text.hpp"

#include "in_hex.hpp"
#include "text/printable_text.hpp"
#include "text/time_text.hpp"

namespace custodian::cli {

std::string to_line(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

std::string session_text(std::int64_t session) { return detail::in_hex(session); }

void put_identity(Json& into, const std::string& identity) {
  if (is_utf8(identity)) {
    into["identity"] = identity;
  } else {
    into["identity"] = nullptr;
    into["identity_hex"] = to_hex(identity);
  }
}

void put_participant(Json& into, const Participant& participant) {
  put_identity(into, participant.identity);
  into["session"] = session_text(participant.session);
  into["since"] = iso_time(participant.since);
  into["token"] = to_string(participant.token);
  into["node"] = participant.node;
}

}  // namespace custodian::cli
