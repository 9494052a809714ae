/// \file
/// A session with the real C client, over a real socket, against a server that plays the input: a
/// byte of flags, then records of a type byte, two bytes of length, and as many bytes.
///
/// The first record answers the handshake. The others are sent when the client has sent its
/// requests, one of each kind; a record may be the reply to the next request, and then gets that
/// request's number. Everything runs on one thread, and no input takes long.

#include "custodian/session/session.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cstdint>
#include <deque>

#include "fuzz.hpp"
#include "targets.hpp"

namespace custodian::fuzz {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::ip::tcp;

/// Sends a request of each kind as soon as the session is connected, and counts the replies.
class Asker : public SessionObserver, public std::enable_shared_from_this<Asker> {
 public:
  void start(std::shared_ptr<Session> session) {
    session_ = std::move(session);
    session_->start();
  }

  void on_state(SessionState state, const SessionInfo& info) override {
    if (state == SessionState::connected) {
      require(info.timeout > 0ms, "a session lives for a while");
      ask_all();
    }
  }
  void on_answer(const ReplyProof&) override { ++answers_; }
  void on_log(LogLevel, std::string message) override {
    require(!message.empty(), "a line of the log says something");
  }

  void close(std::function<void()> done) {
    session_->close(100ms, std::move(done));
    session_.reset();
  }

  void check() const {
    require(called_ == asked_, "each handler is called, and once");
    require(answers_ <= asked_, "nothing is answered twice");
    for (const auto& watcher : watchers_)
      require(watcher->events <= 1, "a watch ends with its event");
  }

 private:
  struct CountingWatcher : Watcher {
    void on_event(error_code, WatchEventType) override { ++events; }
    int events = 0;
  };

  std::shared_ptr<Watcher> watcher() {
    return watchers_.emplace_back(std::make_shared<CountingWatcher>());
  }

  void ask(Request request) {
    ++asked_;
    session_->submit(std::move(request),
                     [self = shared_from_this()](const Reply&) { ++self->called_; });
  }

  void ask_all() {
    const Acl everybody{{Permissions::all, "world", "anyone"}};
    ask(request::Create{"/f/n-", "data", CreateMode::ephemeral_sequential, everybody});
    ask(request::Get{"/f", watcher()});
    ask(request::Exists{"/f/none", watcher()});
    ask(request::GetChildren{"/f", watcher()});
    ask(request::Multi{{request::Create{"/f/m", "", CreateMode::persistent, everybody},
                        request::Set{"/f/m", "1"}, transaction::Check{"/f/m", 1},
                        request::Remove{"/f/m"}}});
    ask(request::GetAcl{"/f"});
    ask(request::SetAcl{"/f", everybody});
    ask(request::Sync{"/f"});
    ask(request::Set{"/f", "more"});
    ask(request::Remove{"/f/none"});
    const auto unwanted = watcher();
    ask(request::GetChildren{"/", unwanted});
    session_->unwatch(unwanted);
  }

  std::shared_ptr<Session> session_;
  std::vector<std::shared_ptr<CountingWatcher>> watchers_;
  int asked_ = 0;
  int called_ = 0;
  int answers_ = 0;
};

struct Record {
  enum class Kind { bytes, reply, pause };
  Kind kind = Kind::bytes;
  std::string bytes{};
};

std::deque<Record> records_of(std::string_view input) {
  std::deque<Record> records;
  while (input.size() >= 3 && records.size() < 64) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(input[i]); };
    const std::size_t length = std::size_t{byte(1)} << 8U | byte(2);
    const auto kind = static_cast<Record::Kind>(byte(0) % 3);
    input.remove_prefix(3);
    records.push_back({kind, std::string{input.substr(0, length)}});
    input.remove_prefix(std::min(length, input.size()));
  }
  return records;
}

/// Serves one connection, and ends when the client has closed it.
class Player {
 public:
  Player(asio::io_context& context, std::deque<Record> records, std::function<void()> over)
      : acceptor_{context, {asio::ip::address_v4::loopback(), 0}},
        socket_{context},
        timer_{context},
        records_{std::move(records)},
        over_{std::move(over)} {
    acceptor_.async_accept(socket_, [this](error_code error) {
      if (error) return over_();
      acceptor_.close();
      socket_.set_option(tcp::no_delay{true});
      read();
    });
  }

  [[nodiscard]] std::string address() const {
    return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

 private:
  void read() {
    socket_.async_read_some(asio::buffer(buffer_), [this](error_code error, std::size_t count) {
      if (error) {
        timer_.cancel();
        socket_.close(error);
        return over_();
      }
      seen_.append(buffer_.data(), count);
      take_requests();
      read();
    });
  }

  void take_requests() {
    while (seen_.size() >= 8) {
      const std::size_t size = 4 + (std::size_t{static_cast<unsigned char>(seen_[2])} << 8U |
                                    static_cast<unsigned char>(seen_[3]));
      if (seen_.size() < size) return;
      if (frames_++ == 0) {
        greet();
      } else if (seen_[4] != '\xFF') {  // not a ping or a credential, which have negative numbers
        xids_.push_back(seen_.substr(4, 4));
      }
      seen_.erase(0, size);
    }
    constexpr std::size_t all = 11;
    if (xids_.size() >= all) timer_.cancel();
  }

  void greet() {
    send_next();
    // A client that rejects the greeting sends no request; the records are then sent after this
    // time.
    timer_.expires_after(2ms);
    timer_.async_wait([this](error_code) { play(); });
  }

  void play() {
    if (!socket_.is_open()) return;
    while (!records_.empty()) {
      if (records_.front().kind == Record::Kind::pause) {
        records_.pop_front();
        timer_.expires_after(std::chrono::microseconds{200});
        return timer_.async_wait([this](error_code) { play(); });
      }
      send_next();
    }
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }

  void send_next() {
    if (records_.empty()) return;
    Record record = std::move(records_.front());
    records_.pop_front();
    if (record.kind == Record::Kind::reply && record.bytes.size() >= 8 && !xids_.empty()) {
      record.bytes.replace(4, 4, xids_.front());
      xids_.pop_front();
    }
    error_code ignored;
    asio::write(socket_, asio::buffer(record.bytes), ignored);
  }

  tcp::acceptor acceptor_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  std::deque<Record> records_;
  std::function<void()> over_;
  std::array<char, 4096> buffer_{};
  std::string seen_;
  std::size_t frames_ = 0;
  std::deque<std::string> xids_;
};

}  // namespace

void session(std::string_view input) {
  if (input.empty()) return;
  const bool has_credentials = (input.front() & 1) != 0;
  asio::io_context context{1};
  const auto asker = std::make_shared<Asker>();
  bool closed = false;
  Player player{context, records_of(input.substr(1)),
                [&] { asker->close([&] { closed = true; }); }};
  SessionSettings settings{
      .servers = player.address(), .session_timeout = 10s, .connect_timeout = 1s};
  if (has_credentials) settings.credentials.push_back({"digest", "user:password"});
  asker->start(make_zookeeper_session(context.get_executor(), settings, asker));
  context.run_for(50s);  // returns when nothing is left to do
  require(closed, "a session ends");
  asker->check();
}

}  // namespace custodian::fuzz
