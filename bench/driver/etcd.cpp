/// \file
/// etcd's contestant: custodian-bench-etcd HOST:PORT. It uses etcd's own lock service (v3lock)
/// through the JSON gateway. Each thread keeps one HTTP connection and one lease.

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "driver.hpp"

namespace custodian::bench {
namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using Json = nlohmann::json;

/// The gateway expects bytes as base64.
std::string base64(const std::string& bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t j = i; j < i + 3; ++j)
      group = group << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0U);
    for (int shift = 18; shift >= 0; shift -= 6) text += digits[group >> shift & 63U];
  }
  for (std::size_t i = bytes.size() % 3; i != 0 && i < 3; ++i) text[text.size() - (3 - i)] = '=';
  return text;
}

class Gateway {
 public:
  explicit Gateway(const std::string& address) : host_{address}, stream_{context_} {
    const std::size_t colon = address.rfind(':');
    stream_.connect(
        tcp::resolver{context_}.resolve(address.substr(0, colon), address.substr(colon + 1)));
    stream_.socket().set_option(tcp::no_delay{true});
  }

  Json ask(const std::string& target, const Json& body) {
    http::request<http::string_body> request{http::verb::post, target, 11};
    request.set(http::field::host, host_);
    request.set(http::field::content_type, "application/json");
    request.body() = body.dump();
    request.prepare_payload();
    http::write(stream_, request);
    http::response<http::string_body> response;
    http::read(stream_, buffer_, response);
    if (response.result() != http::status::ok)
      throw std::runtime_error{"etcd: " + target + ": " + response.body()};
    return Json::parse(response.body());
  }

 private:
  const std::string host_;
  boost::asio::io_context context_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
};

class Lock final : public Locker {
 public:
  Lock(const std::string& address, const std::string& name)
      : gateway_{address},
        // The TTL is longer than any measurement, so no keep-alive is needed.
        lease_{gateway_.ask("/v3/lease/grant", {{"TTL", 600}}).at("ID")},
        request_{{"name", base64(name)}, {"lease", lease_}} {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() override {
    try {
      static_cast<void>(gateway_.ask("/v3/lease/revoke", {{"ID", lease_}}));
    } catch (const std::exception&) {
      // The lease then expires by itself.
    }
  }

  void lock() override { key_ = gateway_.ask("/v3/lock/lock", request_).at("key"); }
  void unlock() override { static_cast<void>(gateway_.ask("/v3/lock/unlock", {{"key", key_}})); }

 private:
  Gateway gateway_;
  const std::string lease_;
  const Json request_;
  std::string key_;
};

class Etcd final : public Contestant {
 public:
  explicit Etcd(std::string address) : address_{std::move(address)} {}
  std::unique_ptr<Locker> locker(const Task& task, int /*index*/) override {
    return std::make_unique<Lock>(address_, task.path);
  }

 private:
  const std::string address_;
};

}  // namespace
}  // namespace custodian::bench

int main(int argc, char* argv[]) {
  if (argc != 2) return 2;
  custodian::bench::Etcd contestant{argv[1]};
  return custodian::bench::serve(contestant);
}
