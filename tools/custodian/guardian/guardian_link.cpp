#include "guardian/guardian_link.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "guardian/descendants.hpp"
#include "guardian/guardian.hpp"

namespace custodian::cli {

GuardianLink::GuardianLink(boost::asio::io_context& context, std::vector<std::string> command,
                           const SignalSetting& as_started)
    : socket_{context} {
  for (const ProcessEntry& child : descendants(getpid())) foreign_.push_back(child.process);
  // If the guardian is killed, its children become children of this process.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    throw std::system_error{errno, std::generic_category(), "socketpair"};
  }
  const int runner_group = getpgrp();
  guardian_ = fork();
  if (guardian_ == 0) {
    // Only the runner keeps this end, so end of file shows the guardian that the runner is gone.
    close(sockets[0]);
    guard(sockets[1], std::move(command), as_started, runner_group);
  }
  const int error = errno;
  close(sockets[1]);
  if (guardian_ < 0) {
    close(sockets[0]);
    throw std::system_error{error, std::generic_category(), "fork"};
  }
  socket_.assign(sockets[0]);
}

GuardianLink::~GuardianLink() { end(); }

void GuardianLink::end() {
  if (!socket_.is_open()) return;
  boost::system::error_code ignored;
  socket_.close(ignored);
  while (waitpid(guardian_, nullptr, 0) < 0 && errno == EINTR) {
  }
  // If the guardian was killed it has left processes behind.
  end_orphans();
}

void GuardianLink::listen(Listener listener) {
  listener_ = std::move(listener);
  wait();
}

void GuardianLink::wait() {
  socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [this](boost::system::error_code error) {
                       if (!error) receive();
                     });
}

void GuardianLink::receive() {
  std::array<char, sizeof(Report)> buffer{};
  const ssize_t size = recv(socket_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  const bool is_over = size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
  if (is_over) {
    listener_(std::nullopt);
    return;
  }
  wait();
  if (size <= 0) return;
  const std::string_view bytes{buffer.data(), static_cast<std::size_t>(size)};
  if (const auto report = message_from<Report>(bytes)) listener_(report);
}

void GuardianLink::send(const Order& order, const std::vector<std::string>& environment) {
  std::string message{bytes_of(order)};
  for (const std::string& variable : environment) message.append(variable).push_back('\0');
  // The result is ignored: receive() notices if the guardian is gone.
  static_cast<void>(
      ::send(socket_.native_handle(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

std::vector<pid_t> GuardianLink::processes() const {
  std::vector<pid_t> found;
  for (const ProcessEntry& entry : descendants(guardian_)) {
    if (!entry.is_zombie) found.push_back(entry.process);
  }
  return found;
}

void GuardianLink::end_orphans() const {
  for (;;) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    std::set<pid_t> spared{foreign_.begin(), foreign_.end()};
    for (const pid_t foreign : foreign_) {
      for (const ProcessEntry& theirs : descendants(foreign)) spared.insert(theirs.process);
    }
    std::vector<ProcessEntry> left = descendants(getpid());
    std::erase_if(left, [&](const ProcessEntry& entry) { return spared.contains(entry.process); });
    if (left.empty()) return;
    std::this_thread::sleep_for(pause_after_killing(kill_each(left, SIGKILL)));
  }
}

}  // namespace custodian::cli
