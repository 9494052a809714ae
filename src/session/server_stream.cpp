#include "session/server_stream.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace custodian::detail {
namespace {

namespace asio = boost::asio;

class PlainStream final : public ServerStream {
 public:
  explicit PlainStream(TcpStream server) : server_{std::move(server)} {}

  asio::any_io_executor get_executor() override { return server_.get_executor(); }
  std::string_view opening() const noexcept override { return "connect"; }
  void open(Opened opened) override {
    asio::post(server_.get_executor(), [opened = std::move(opened)] { opened({}, {}); });
  }
  void read_some(asio::mutable_buffer buffer, Done done) override {
    server_.async_read_some(buffer, std::move(done));
  }
  void write(asio::const_buffer buffer, Done done) override {
    asio::async_write(server_, buffer, std::move(done));
  }
  void shut_down(std::function<void()> done) override {
    asio::post(server_.get_executor(), std::move(done));
  }
  void close() override { server_.close(); }
  void reset() override { server_.reset(); }
  std::string fault_of(error_code) override { return {}; }

 private:
  TcpStream server_;
};

}  // namespace

std::unique_ptr<ServerStream> make_plain_stream(TcpStream server) {
  return std::make_unique<PlainStream>(std::move(server));
}

}  // namespace custodian::detail
