#include "wire/wire_session.hpp"

#include <bit>
#include <boost/endian/conversion.hpp>
#include <cstring>

namespace custodian::testing {
namespace {

constexpr std::size_t password_size = 16;

// The request types of zookeeper.jute's ZooDefs.OpCode.
constexpr std::int32_t op_create = 1;
constexpr std::int32_t op_exists = 3;
constexpr std::int32_t op_reconfig = 16;
constexpr std::int32_t op_close_session = -11;

// Writes Jute, the encoding of ZooKeeper: numbers are big-endian, strings and buffers come after
// their length.
class Encoder {
 public:
  template <class Number>
  Encoder& number(Number value) {
    boost::endian::native_to_big_inplace(value);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
    return *this;
  }
  Encoder& boolean(bool value) { return number(static_cast<std::int8_t>(value)); }
  Encoder& string(std::string_view value) {
    number(static_cast<std::int32_t>(value.size()));
    bytes_ += value;
    return *this;
  }
  Encoder& raw(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_{bytes} {}

  template <class Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return boost::endian::big_to_native(value);
  }
  std::string_view string() { return take(static_cast<std::size_t>(number<std::int32_t>())); }

 private:
  std::string_view take(std::size_t count) {
    if (count > bytes_.size()) throw TestingError{"a server's answer is shorter than it should be"};
    const auto taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view bytes_;
};

void write_packet(DeadlineSocket& socket, const Encoder& packet) {
  socket.write(Encoder{}.string(packet.bytes()).bytes());
}

std::string read_packet(DeadlineSocket& socket) {
  const std::string length = socket.read(sizeof(std::int32_t));
  return socket.read(static_cast<std::size_t>(Decoder{length}.number<std::int32_t>()));
}

}  // namespace

WireSession::WireSession(const ServerEndpoint& endpoint, std::chrono::milliseconds timeout)
    : patience_{usual_patience},
      socket_{endpoint, DeadlineSocket::Clock::now() + patience_},
      password_(password_size, '\0') {
  handshake(timeout);
}

WireSession::WireSession(const ServerEndpoint& endpoint, std::int64_t id, std::string_view password,
                         std::chrono::milliseconds patience)
    : patience_{patience},
      socket_{endpoint, DeadlineSocket::Clock::now() + patience_},
      id_{id},
      password_{password} {
  if (password.size() != password_size) throw TestingError{"a session's password has 16 bytes"};
  handshake(usual_patience);
}

void WireSession::handshake(std::chrono::milliseconds timeout) {
  write_packet(socket_, Encoder{}
                            .number(std::int32_t{0})  // protocol version
                            .number(std::int64_t{0})  // last zxid seen
                            .number(static_cast<std::int32_t>(timeout.count()))
                            .number(id_)
                            .string(password_)
                            .boolean(false));  // read-only
  const std::string packet = read_packet(socket_);
  Decoder answer{packet};
  answer.number<std::int32_t>();
  timeout_ = std::chrono::milliseconds{answer.number<std::int32_t>()};
  id_ = answer.number<std::int64_t>();
  password_ = answer.string();
}

std::int32_t WireSession::request(std::int32_t type, std::string_view body) {
  socket_.set_deadline(DeadlineSocket::Clock::now() + patience_);
  write_packet(socket_, Encoder{}.number(++last_xid_).number(type).raw(body));
  for (;;) {
    const std::string packet = read_packet(socket_);
    Decoder answer{packet};
    // Watch events, which have the xid -1, may come before the reply.
    if (answer.number<std::int32_t>() != last_xid_) continue;
    answer.number<std::int64_t>();  // zxid
    return answer.number<std::int32_t>();
  }
}

std::int32_t WireSession::create(std::string_view path, std::string_view data, std::int32_t flags) {
  constexpr std::int32_t all_permissions = 31;
  return request(op_create, Encoder{}
                                .string(path)
                                .string(data)
                                .number(std::int32_t{1})  // one ACL entry
                                .number(all_permissions)
                                .string("world")
                                .string("anyone")
                                .number(flags)
                                .bytes());
}

std::int32_t WireSession::exists(std::string_view path) {
  return request(op_exists, Encoder{}.string(path).boolean(false).bytes());
}

std::int32_t WireSession::watch(std::string_view path) {
  return request(op_exists, Encoder{}.string(path).boolean(true).bytes());
}

std::int32_t WireSession::reconfigure(std::string_view joining, std::string_view leaving) {
  return request(op_reconfig, Encoder{}
                                  .string(joining)
                                  .string(leaving)
                                  .number(std::int32_t{-1})  // no list of all members
                                  .number(std::int64_t{-1})  // whatever the present version is
                                  .bytes());
}

void WireSession::close() { request(op_close_session, {}); }

}  // namespace custodian::testing
