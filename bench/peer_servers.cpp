#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "child_process/child_process.hpp"
#include "loopback.hpp"
#include "servers.hpp"

namespace custodian::bench {
namespace {

constexpr std::chrono::seconds start_limit{60};

/// Returns a port that is free now. If another process takes the port first, the server does not
/// start.
std::uint16_t free_port() {
  const int descriptor = tcp_socket();
  const std::uint16_t port = bind_to_free_port(descriptor);
  ::close(descriptor);
  return port;
}

bool accepts(std::uint16_t port) {
  const int descriptor = tcp_socket();
  const sockaddr_in address = loopback(port);
  const bool connected =
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(descriptor);
  return connected;
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return text + "'";
}

/// The arguments of a shell that redirects the server's output to the log and then becomes the
/// server. The server is killed when the benchmark ends, in whatever way it ends.
std::vector<std::string> within_shell(const std::vector<std::string>& command,
                                      const std::string& log) {
  std::string line = "exec setpriv --pdeathsig KILL --";
  for (const std::string& word : command) line += " " + quoted(word);
  // The server keeps its standard input: one end of a socket pair that ChildProcess has made.
  // Nothing is written to it; the other end reads end of file once the server is gone.
  return {"-c", line + " >" + quoted(log) + " 2>&1"};
}

std::vector<std::string> redis(const OwnDirectory& directory, std::uint16_t port, bool append) {
  std::filesystem::create_directory(directory.file("data"));
  return {find_program("redis-server"),
          "--port",
          std::to_string(port),
          "--bind",
          "127.0.0.1",
          "--dir",
          directory.file("data"),
          "--save",
          "",
          "--appendonly",
          append ? "yes" : "no",
          "--appendfsync",
          "always"};
}

std::vector<std::string> etcd(const OwnDirectory& directory, std::uint16_t port) {
  const std::string clients = "http://127.0.0.1:" + std::to_string(port);
  const std::string peers = "http://127.0.0.1:" + std::to_string(free_port());
  return {find_program("etcd"),
          "--name",
          "bench",
          "--data-dir",
          directory.file("data"),
          "--listen-client-urls",
          clients,
          "--advertise-client-urls",
          clients,
          "--listen-peer-urls",
          peers,
          "--initial-advertise-peer-urls",
          peers,
          "--initial-cluster",
          "bench=" + peers,
          "--log-level",
          "error"};
}

std::vector<std::string> mariadb(const OwnDirectory& directory, std::uint16_t port) {
  std::filesystem::create_directory(directory.file("data"));
  std::vector<std::string> words{
      find_program("mariadbd"), "--no-defaults", "--skip-grant-tables",
      // --skip-grant-tables alone might turn off TCP.
      "--skip-networking=0", "--bind-address=127.0.0.1", "--port=" + std::to_string(port),
      "--datadir=" + directory.file("data"), "--tmpdir=" + directory.file("data"),
      "--socket=" + directory.file("s"), "--pid-file=" + directory.file("pid")};
  // The server refuses to run as root without --user.
  if (::geteuid() == 0) words.emplace_back("--user=root");
  return words;
}

std::vector<std::string> command(Kind kind, const OwnDirectory& directory, std::uint16_t port) {
  switch (kind) {
    case Kind::redis: return redis(directory, port, false);
    case Kind::redis_append_only: return redis(directory, port, true);
    case Kind::mariadb: return mariadb(directory, port);
    case Kind::etcd: return etcd(directory, port);
    case Kind::zookeeper:
    case Kind::zookeeper_netty:
    case Kind::zookeeper_tls: break;
  }
  throw std::logic_error{"no such peer"};
}

class Peer final : public Servers {
 public:
  Peer(Kind kind, const std::string& parent)
      : directory_{parent},
        port_{free_port()},
        process_{"/bin/sh",
                 within_shell(command(kind, directory_, port_), directory_.file("log"))} {
    const auto deadline = std::chrono::steady_clock::now() + start_limit;
    while (!accepts(port_)) {
      if (has_ended() || std::chrono::steady_clock::now() > deadline)
        throw std::runtime_error{"a peer's server does not come up:\n" + log()};
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
  }

  [[nodiscard]] std::string address(std::size_t /*process*/) const override {
    return "127.0.0.1:" + std::to_string(port_);
  }
  [[nodiscard]] std::vector<std::uint16_t> ports() const override { return {port_}; }

 private:
  [[nodiscard]] bool has_ended() {
    pollfd readable{process_.descriptor(), POLLIN, 0};
    if (::poll(&readable, 1, 0) > 0) static_cast<void>(process_.listen());
    return process_.has_ended();
  }
  [[nodiscard]] std::string log() const {
    std::ifstream file{directory_.file("log")};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  const OwnDirectory directory_;  // destroyed after the server, so it is declared before it
  const std::uint16_t port_;
  testing::ChildProcess process_;
};

}  // namespace

OwnDirectory::OwnDirectory(const std::string& parent) : path_{parent + "/custodian-bench-XXXXXX"} {
  if (::mkdtemp(path_.data()) == nullptr)
    throw std::runtime_error{"cannot make a directory in " + parent};
}

OwnDirectory::~OwnDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::unique_ptr<Servers> start_peer(Kind kind, const std::string& parent) {
  return std::make_unique<Peer>(kind, parent);
}

}  // namespace custodian::bench
