#include "servers/line_to_server.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace custodian::cli {

namespace asio = boost::asio;

namespace {

class PlainLine final : public LineToServer {
 public:
  explicit PlainLine(asio::ip::tcp::socket socket) : socket_{std::move(socket)} {}

  void begin(Begun begun) override { begun({}); }
  void write(const std::string& question, Done done) override {
    asio::async_write(
        socket_, asio::buffer(question),
        [done = std::move(done)](boost::system::error_code error, std::size_t) { done(error); });
  }
  void read_to_end(std::string& answer, std::size_t most, Done done) override {
    asio::async_read(
        socket_, asio::dynamic_buffer(answer, most),
        [done = std::move(done)](boost::system::error_code error, std::size_t) { done(error); });
  }

 private:
  asio::ip::tcp::socket socket_;
};

}  // namespace

std::unique_ptr<LineToServer> plain_line(asio::ip::tcp::socket socket) {
  return std::make_unique<PlainLine>(std::move(socket));
}

}  // namespace custodian::cli
