#include "servers/server_words.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>

#include "custodian/error.hpp"
#include "servers/line_to_server.hpp"

namespace custodian::cli {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// The limit for an answer: it leaves room for a busy server's list of connections, the longest
/// answer.
constexpr std::size_t longest_answer = std::size_t{16} * 1024 * 1024;

/// One question and its answer. The server ends the answer by ending the connection.
class Dialogue {
 public:
  Dialogue(const ServerAddress& server, std::string question, const std::optional<TlsOptions>& tls)
      : host_{server.host},
        question_{std::move(question)},
        tls_{tls},
        resolver_{context_},
        socket_{context_} {
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
      try {
        line_ =
            tls_ ? secure_line(std::move(socket_), *tls_, host_) : plain_line(std::move(socket_));
      } catch (const Error& wrong) {
        return fail(wrong.what());
      }
      line_->begin([this](const std::string& failure) {
        if (!failure.empty()) return fail(failure);
        connected_ = true;
        answer_.certificate_ends = line_->certificate_ends();
        ask();
      });
    });
  }
  void ask() {
    line_->write(question_, [this](error_code error) {
      if (error) return fail(error);
      line_->read_to_end(answer_.text, longest_answer, [this](error_code ended) { finish(ended); });
    });
  }
  void finish(error_code ended) {
    over_ = true;
    const bool is_whole = !ended || ended == asio::error::eof;
    const bool is_answer = is_whole && !answer_.text.empty();
    answer_.kind = is_answer ? Answer::Kind::text : Answer::Kind::silent;
  }
  void fail(error_code error) { fail(error.message()); }
  void fail(std::string reason) {
    over_ = true;
    answer_.kind = connected_ ? Answer::Kind::silent : Answer::Kind::unreachable;
    answer_.text = std::move(reason);
  }

  std::string host_;
  std::string question_;
  std::optional<TlsOptions> tls_;
  asio::io_context context_;
  asio::ip::tcp::resolver resolver_;
  asio::ip::tcp::socket socket_;
  std::unique_ptr<LineToServer> line_;
  Answer answer_{};
  bool connected_ = false;
  bool over_ = false;
};

}  // namespace

Answer four_letter_word(const ServerAddress& server, std::string_view word, Deadline deadline,
                        const std::optional<TlsOptions>& tls) {
  Answer answer = Dialogue{server, std::string{word}, tls}.run(deadline);
  if (answer && answer.text.find("is not in the whitelist") != std::string::npos) {
    answer.kind = Answer::Kind::not_allowed;
  }
  return answer;
}

std::uint16_t admin_port_for(std::optional<std::uint16_t> said,
                             const std::optional<TlsOptions>& tls) noexcept {
  constexpr std::uint16_t default_port = 8080;
  return said.value_or(tls ? 0 : default_port);
}

Answer admin_command(const ServerAddress& admin_server, std::string_view command,
                     Deadline deadline) {
  // An answer in HTTP 1.0 is not chunked, and ends with the connection.
  std::string request{"GET /commands/"};
  request.append(command).append(" HTTP/1.0\r\nHost: ").append(to_string(admin_server));
  request.append("\r\nConnection: close\r\n\r\n");
  const Answer answer = Dialogue{admin_server, std::move(request), std::nullopt}.run(deadline);
  return answer ? body_of_http(answer.text) : answer;
}

}  // namespace custodian::cli
