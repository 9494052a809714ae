#include "session/c_client.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <new>
#include <string_view>
#include <utility>

#include "base/process_id.hpp"
#include "session/c_callbacks.hpp"
#include "session/c_codec.hpp"
#include "session/c_log_line.hpp"
#include "session/c_multi.hpp"
#include "session/library_call.hpp"
#include "session/owned_socket.hpp"
#include "session/placeholder.hpp"

namespace custodian::detail {

_zhandle* CClient::handle() const {
  assert(&LibraryCall::client() == this);
  return handle_;
}

namespace {

ZooWatcherType to_watcher_type(WatchKind kind) {
  return kind == WatchKind::data ? ZWATCHTYPE_DATA : ZWATCHTYPE_CHILD;
}

int add_credential(_zhandle* handle, const SessionSettings::Credential& credential) {
  // The completion does nothing: a refusal shows in the state of the handle.
  return zoo_add_auth(
      handle, credential.scheme.c_str(), credential.value.data(),
      static_cast<int>(credential.value.size()), [](int, const void*) {}, nullptr);
}

}  // namespace

CClient::CClient(const SessionSettings& settings)
    : owner_{process_id()}, inbox_{settings.credentials.size()} {
  const std::string& placeholder = Placeholder::of_this_process().text();
  const LibraryCall call{*this};
  zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
  handle_ = zookeeper_init2(placeholder.c_str(), &Callbacks::watched,
                            static_cast<int>(settings.session_timeout.count()), nullptr, nullptr,
                            ZOO_NO_LOG_CLIENTENV, &Callbacks::logged);
  if (handle_ == nullptr) {
    throw Error{error_code{errno, boost::system::generic_category()}, "zookeeper_init", ""};
  }
  // A delay of -1 turns off the C client's own resolving of names, which it does while a connection
  // works.
  zoo_set_servers_resolution_delay(handle_, -1);
  for (const auto& credential : settings.credentials) add_credential(handle_, credential);
}

CClient::~CClient() { close(); }

// The C client is asked to connect to the placeholder, which never answers, and its socket is
// replaced by the connected one within the same call. The C client then finds its connection
// established, and sends the handshake.

error_code CClient::hand_over(int socket, std::string server) {
  if (process_id() != owner_) return Errc::forked;
  const LibraryCall call{*this};
  if (send_failed_) {
    if (const error_code error = forget_leftovers()) return error;
    send_failed_ = false;
  }
  server_ = std::move(server);
  note_lost_ = false;
  const error_code error = exchange_socket(socket);
  if (error) return error;
  return zoo_state(handle()) == ZOO_ASSOCIATING_STATE ? error_code{} : ServerErrc::connection_loss;
}

error_code CClient::exchange_socket(int socket) {
  descriptor_ = -1;
  cork_.forget();
  error_code error = ServerErrc::connection_loss;
  // After a failed connection, the C client asks for a pause before it dials, up to twice: so the
  // loop calls it up to three times.
  for (int i = 0; i < 3; ++i) {
    int descriptor = -1;
    int interest = 0;
    timeval timeout{};
    errno = 0;
    const int rc = zookeeper_interest(handle(), &descriptor, &interest, &timeout);
    if (rc == ZSYSTEMERROR && errno != 0) error = {errno, boost::system::system_category()};
    if (rc != ZOK || descriptor < 0 || zoo_state(handle()) != ZOO_CONNECTING_STATE) continue;
    if (::dup3(socket, descriptor, O_CLOEXEC) < 0) {
      return {errno, boost::system::system_category()};
    }
    zookeeper_process(handle(), ZOOKEEPER_WRITE);
    descriptor_ = descriptor;
    return {};
  }
  return error;
}

error_code CClient::forget_leftovers() {
  // The C client clears its queues when it notices that a connection has failed. So it is given a
  // connection whose other end is closed.
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return {errno, boost::system::system_category()};
  }
  const OwnedSocket end{ends[0]};
  ::close(ends[1]);
  logs_ = false;
  const error_code error = exchange_socket(end.get());
  logs_ = true;
  return error;
}

Interest CClient::interest() {
  if (process_id() != owner_) return {.error = Errc::forked, .timeout = std::chrono::hours{1}};
  const LibraryCall call{*this};
  // Without a connection, zookeeper_interest() would dial by itself.
  if (!is_reading()) return {.error = Errc::not_connected};
  cork_.pull(descriptor_);
  Interest result;
  int interest = 0;
  timeval timeout{};
  // On an error, the C client may set the descriptor to a number that is closed already.
  const int rc = zookeeper_interest(handle(), &result.descriptor, &interest, &timeout);
  result.error = to_error(rc);
  if (rc != ZOK) result.descriptor = -1;
  descriptor_ = result.descriptor;
  if (note_lost_) {
    hang_up();
    result.descriptor = -1;  // hang_up() has closed it
    interest = 0;
  }
  result.read = (interest & ZOOKEEPER_READ) != 0;
  result.write = (interest & ZOOKEEPER_WRITE) != 0;
  result.timeout =
      std::chrono::seconds{timeout.tv_sec} + std::chrono::milliseconds{timeout.tv_usec / 1000};
  return result;
}

void CClient::process(bool readable, bool writable) {
  if (process_id() != owner_) return;
  const LibraryCall call{*this};
  if (writable) zookeeper_process(handle(), ZOOKEEPER_WRITE);
  if (!readable) return;
  try {
    read_replies();
  } catch (const std::bad_alloc&) {
    // The server decides how much memory its replies take. If there is too little, only the
    // connection ends.
    hang_up();
  }
}

void CClient::read_replies() {
  // One call reads one reply. The bound leaves the strand to other work when many replies come; the
  // rest makes the descriptor readable again.
  constexpr int most_at_once = 256;
  inbox_.look_again();
  for (int i = 0; i < most_at_once && is_reading(); ++i) {
    const Inbox::Next next = inbox_.next(descriptor_);
    if (next == Inbox::Next::wait) break;
    if (next == Inbox::Next::fault) return hang_up(inbox_.fault());
    if (next == Inbox::Next::broken) return hang_up();
    const bool whole = zookeeper_process(handle(), ZOOKEEPER_READ) == ZOK;
    inbox_.has_read(whole ? Inbox::Read::whole_frame : Inbox::Read::part);
    if (note_lost_) return hang_up("a reply that could not be taken up");
    if (!whole) break;
  }
  inbox_.tidy();
}

bool CClient::accepts_ahead(std::string_view frame) {
  if (process_id() != owner_ || !has_connection()) return false;
  try {
    return inbox_.accepts_ahead(frame);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void CClient::hang_up(std::string_view fault) {
  std::string line{"the server at "};
  line += server_;
  line += " sent ";
  line += fault;
  line += ": its connection is given up";
  events_.emplace_back(event::Logged{LogLevel::error, std::move(line)});
  hang_up();
}

void CClient::hang_up() {
  if (!is_reading()) return;
  ::shutdown(descriptor_, SHUT_RDWR);
  // Drops the bytes that have arrived already: the C client could still read them.
  std::array<char, 4096> ignored;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  while (::recv(descriptor_, ignored.data(), ignored.size(), MSG_DONTWAIT) > 0) continue;
  zookeeper_process(handle(), ZOOKEEPER_READ);
}

bool CClient::is_reading() const {
  const int state = handle_ == nullptr ? ZOO_NOTCONNECTED_STATE : zoo_state(handle_);
  return state == ZOO_ASSOCIATING_STATE || state == ZOO_CONNECTED_STATE;
}

error_code CClient::submit(const Request& request, std::uint64_t operation, Arms arms) {
  if (process_id() != owner_) return Errc::forked;
  const LibraryCall call{*this};
  // Without a connection, the C client would keep the request for the next one, where other
  // requests may have to go first.
  if (zoo_state(handle()) != ZOO_CONNECTED_STATE) return Errc::not_connected;
  inbox_.expect(request);
  cork_.put_in(descriptor_);
  const int rc = dispatch(request, operation, arms);
  if (rc != ZOK) inbox_.withdraw();
  // A send that failed has closed the connection, and the call still says ZOK.
  send_failed_ = send_failed_ || zoo_state(handle()) != ZOO_CONNECTED_STATE;
  return to_error(rc);
}

int CClient::dispatch(const Request& request, std::uint64_t operation, Arms arms) {
  const void* key = to_context(operation);
  const watcher_fn watcher = arms == Arms::a_watch ? &Callbacks::watched : nullptr;
  struct Visitor {
    CClient& self;
    const void* key;
    watcher_fn watcher;
    std::uint64_t operation;

    static int size(const std::string& data) { return static_cast<int>(data.size()); }

    int operator()(const request::Create& r) const {
      const CAcl acl{r.acl};
      return zoo_acreate2_ttl(self.handle(), r.path.c_str(), r.data.data(), size(r.data), acl.get(),
                              to_flags(r.mode), has_ttl(r.mode) ? r.ttl.count() : -1,
                              &Callbacks::created, key);
    }
    int operator()(const request::Remove& r) const {
      return zoo_adelete(self.handle(), r.path.c_str(), r.version, &Callbacks::done, key);
    }
    int operator()(const request::Exists& r) const {
      return zoo_awexists(self.handle(), r.path.c_str(), watcher, nullptr, &Callbacks::stat, key);
    }
    int operator()(const request::Get& r) const {
      return zoo_awget(self.handle(), r.path.c_str(), watcher, nullptr, &Callbacks::data, key);
    }
    int operator()(const request::Set& r) const {
      return zoo_aset(self.handle(), r.path.c_str(), r.data.data(), size(r.data), r.version,
                      &Callbacks::stat, key);
    }
    int operator()(const request::GetChildren& r) const {
      return zoo_awget_children2(self.handle(), r.path.c_str(), watcher, nullptr,
                                 &Callbacks::children, key);
    }
    int operator()(const request::GetAcl& r) const {
      return zoo_aget_acl(self.handle(), r.path.c_str(), &Callbacks::acl, key);
    }
    int operator()(const request::SetAcl& r) const {
      const CAcl acl{r.acl};
      return zoo_aset_acl(self.handle(), r.path.c_str(), r.version,
                          const_cast<ACL_vector*>(acl.get()), &Callbacks::done, key);
    }
    int operator()(const request::Sync& r) const {
      return zoo_async(self.handle(), r.path.c_str(), &Callbacks::synced, key);
    }
    int operator()(const request::Multi& r) const { return self.commit(r, operation); }
  };
  return std::visit(Visitor{*this, key, watcher, operation}, request);
}

int CClient::commit(const request::Multi& multi, std::uint64_t operation) {
  if (!CMulti::accepts(multi) || is_unrecoverable(handle()) != ZOK) return ZBADARGUMENTS;
  const auto place = multis_.emplace(operation, std::make_unique<CMulti>(multi)).first;
  const int rc = place->second->submit(handle(), &Callbacks::committed, to_context(operation));
  if (rc != ZOK) multis_.erase(operation);
  return rc;
}

error_code CClient::remove_watch(const std::string& path, WatchKind kind, std::uint64_t operation) {
  if (process_id() != owner_) return Errc::forked;
  const LibraryCall call{*this};
  if (zoo_state(handle()) != ZOO_CONNECTED_STATE) return Errc::not_connected;
  inbox_.expect_no_body();
  cork_.put_in(descriptor_);
  // zoo_aremove_all_watches() removes the watches of this kind that this session has on the path,
  // and ours is the only one. zoo_aremove_watches() would leave the watch on the server. The type
  // of the completion parameter is a slip in the C client's header: it takes the function itself.
  const int rc = zoo_aremove_all_watches(handle(), path.c_str(), to_watcher_type(kind), 0,
                                         reinterpret_cast<void_completion_t*>(&Callbacks::done),
                                         to_context(operation));
  if (rc != ZOK) inbox_.withdraw();
  send_failed_ = send_failed_ || zoo_state(handle()) != ZOO_CONNECTED_STATE;
  return to_error(rc);
}

error_code CClient::present(const SessionSettings::Credential& credential) {
  if (process_id() != owner_) return Errc::forked;
  const LibraryCall call{*this};
  if (zoo_state(handle()) != ZOO_CONNECTED_STATE) return Errc::not_connected;
  inbox_.expect_credential();
  const int rc = add_credential(handle(), credential);
  send_failed_ = send_failed_ || zoo_state(handle()) != ZOO_CONNECTED_STATE;
  return to_error(rc);
}

void CClient::forget_watches(const std::vector<KnownWatch>& watches) {
  if (process_id() != owner_) return;
  const LibraryCall call{*this};
  for (const KnownWatch& watch : watches) {
    // The 1 is for "local": only the C client's own table changes.
    zoo_aremove_all_watches(handle(), watch.path.c_str(), to_watcher_type(watch.kind), 1, nullptr,
                            nullptr);
  }
}

void CClient::stop_reading() {
  if (process_id() != owner_) return;
  const LibraryCall call{*this};
  if (is_reading()) inbox_.leave(descriptor_);
}

void CClient::close() {
  if (handle_ == nullptr) return;
  if (process_id() == owner_) {
    const LibraryCall call{*this};
    if (is_reading()) {
      inbox_.leave(descriptor_);
      cork_.pull(descriptor_);
    }
    zookeeper_close(std::exchange(handle_, nullptr));
  }
  // In the child of a fork, the handle leaks: closing it would end the parent's session.
  handle_ = nullptr;
}

void CClient::read_state() {
  if (!is_reading()) {
    inbox_.disconnected(handle_ == nullptr ? 0 : zoo_client_id(handle_)->client_id);
  }
  const int state = handle_ == nullptr ? ZOO_NOTCONNECTED_STATE : zoo_state(handle_);
  if (state == ZOO_CONNECTED_STATE) {
    state_ = HandleState::connected;
  } else if (state == ZOO_EXPIRED_SESSION_STATE) {
    state_ = HandleState::expired;
  } else if (state == ZOO_AUTH_FAILED_STATE) {
    state_ = HandleState::auth_failed;
  } else if (state == ZOO_CONNECTING_STATE) {
    state_ = HandleState::connecting;
  } else if (state == ZOO_ASSOCIATING_STATE) {
    state_ = HandleState::greeting;
  } else {
    state_ = HandleState::disconnected;
  }
}

SessionInfo CClient::session() {
  if (process_id() != owner_) return {};
  const LibraryCall call{*this};
  const clientid_t* id = zoo_client_id(handle());
  return {.id = id->client_id,
          .password = {id->passwd, sizeof id->passwd},
          .timeout = std::chrono::milliseconds{zoo_recv_timeout(handle())},
          .connection = 0,
          .server = server_};
}

std::vector<Event> CClient::take_events() { return std::exchange(events_, {}); }

}  // namespace custodian::detail
