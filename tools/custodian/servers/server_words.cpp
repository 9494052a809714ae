#include "servers/server_words.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <functional>

namespace custodian::cli {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// Enough for a busy server's list of connections; none of our questions has a longer answer.
constexpr std::size_t longest_answer = std::size_t{16} * 1024 * 1024;

/// One question and its answer; the answer ends with the connection.
class Dialogue {
 public:
  Dialogue(const ServerAddress& server, std::string question)
      : question_{std::move(question)}, resolver_{context_}, socket_{context_} {
    resolver_.async_resolve(server.host, std::to_string(server.port),
                            [this](error_code error, const auto& found) {
                              if (error) return fail(error);
                              connect(found);
                            });
  }

  Answer run(Deadline deadline) {
    if (deadline.is_never()) {
      context_.run();
    } else {
      context_.run_until(deadline.time_point());
    }
    if (!over_) {
      answer_.kind = connected_ ? Answer::Kind::silent : Answer::Kind::unreachable;
      if (!connected_) answer_.text = "no connection in time";
      resolver_.cancel();
    }
    return std::move(answer_);
  }

 private:
  void connect(const asio::ip::tcp::resolver::results_type& found) {
    asio::async_connect(socket_, found, [this](error_code error, const auto&) {
      if (error) return fail(error);
      connected_ = true;
      ask();
    });
  }
  void ask() {
    asio::async_write(socket_, asio::buffer(question_), [this](error_code error, std::size_t) {
      if (error) return fail(error);
      asio::async_read(socket_, asio::dynamic_buffer(answer_.text, longest_answer),
                       [this](error_code ended, std::size_t) { finish(ended); });
    });
  }
  void finish(error_code ended) {
    over_ = true;
    const bool is_whole = !ended || ended == asio::error::eof;
    const bool is_answer = is_whole && !answer_.text.empty();
    answer_.kind = is_answer ? Answer::Kind::text : Answer::Kind::silent;
  }
  void fail(error_code error) {
    over_ = true;
    answer_.kind = connected_ ? Answer::Kind::silent : Answer::Kind::unreachable;
    answer_.text = error.message();
  }

  std::string question_;
  asio::io_context context_;
  asio::ip::tcp::resolver resolver_;
  asio::ip::tcp::socket socket_;
  Answer answer_{};
  bool connected_ = false;
  bool over_ = false;
};

}  // namespace

Answer four_letter_word(const ServerAddress& server, std::string_view word, Deadline deadline) {
  Answer answer = Dialogue{server, std::string{word}}.run(deadline);
  if (answer && answer.text.find("is not in the whitelist") != std::string::npos) {
    answer.kind = Answer::Kind::not_allowed;
  }
  return answer;
}

Answer admin_command(const ServerAddress& admin_server, std::string_view command,
                     Deadline deadline) {
  // With HTTP 1.0 the answer is not chunked, and ends with the connection.
  std::string request{"GET /commands/"};
  request.append(command).append(" HTTP/1.0\r\nHost: ").append(to_string(admin_server));
  request.append("\r\nConnection: close\r\n\r\n");
  const Answer answer = Dialogue{admin_server, std::move(request)}.run(deadline);
  return answer ? body_of_http(answer.text) : answer;
}

}  // namespace custodian::cli
