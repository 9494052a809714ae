/// \file
/// One of the processes that contend for the lock. The demo starts it, on a socket that is both its
/// standard input and its standard output:
///
///   ready <negotiated session timeout, ms>   connected; waits for a line to begin
///   did <n>                                  its n-th increment is done
///   inside                                   it waits, in the midst of an increment, to be killed
///   done                                     all its increments are done
///
/// A second line from the demo allows the last increment. The worker ends when the demo does.

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <boost/asio/post.hpp>
#include <chrono>
#include <fstream>
#include <future>
#include <iostream>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "history.hpp"

namespace custodian::demo {
namespace {

struct Settings {
  std::string servers;
  std::string path;
  int number = 0;
  int increments = 0;
  int hang_at = 0;
  std::string directory;
  std::chrono::milliseconds hold{0};
  std::chrono::milliseconds session_timeout{0};
  std::chrono::milliseconds touch_interval{0};
};

/// A file to which several processes append whole lines.
class SharedLog {
 public:
  explicit SharedLog(const std::string& file)
      : descriptor_{::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)} {
    if (descriptor_ < 0) throw std::system_error{errno, std::generic_category(), file};
  }
  SharedLog(const SharedLog&) = delete;
  SharedLog& operator=(const SharedLog&) = delete;
  ~SharedLog() { ::close(descriptor_); }

  /// Appends by a single write(), so that lines of different processes do not mix.
  void append(const std::string& line) const {
    if (::write(descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      throw std::system_error{errno, std::generic_category(), "append"};
    }
  }

 private:
  int descriptor_;
};

std::int64_t boot_time() { return BootClock::now().time_since_epoch().count(); }

void say(const std::string& message) { std::cout << message << '\n' << std::flush; }

/// The lock alone protects the counter.
long read_counter(const std::string& file) {
  long value = 0;
  if (!(std::ifstream{file} >> value)) throw std::runtime_error{"cannot read " + file};
  return value;
}

void write_counter(const std::string& file, long value) {
  if (!(std::ofstream{file} << value << std::flush)) {
    throw std::runtime_error{"cannot write " + file};
  }
}

/// Waits for every callback that the client has posted so far: callbacks run one by one.
void finish_callbacks(const Client& client) {
  std::promise<void> reached;
  boost::asio::post(client.callback_executor(), [&reached] { reached.set_value(); });
  reached.get_future().wait();
}

void work(const Settings& settings) {
  const std::string counter = settings.directory + "/counter";
  const SharedLog history{settings.directory + "/history"};
  const SharedLog waits{settings.directory + "/waits"};

  Client client{ClientOptions{.servers = settings.servers,
                              .session_timeout = settings.session_timeout,
                              .touch_interval = settings.touch_interval}};
  client.wait_connected();
  InterProcessMutex mutex{
      client, settings.path, {.identity = "worker " + std::to_string(settings.number)}};
  // The client calls on_position when the predecessor's node is watched, and the wait for it has
  // begun.
  std::atomic<int> increment = 0;
  const AcquireOptions options{.on_position = [&](std::size_t, const Participant& nearest) {
    waits.append(std::to_string(settings.number) + " " + std::to_string(increment) + " " +
                 nearest.node + "\n");
  }};

  say("ready " + std::to_string(client.session().timeout.count()));
  std::string line;
  if (!std::getline(std::cin, line)) return;
  const auto may_finish = std::make_shared<std::latch>(1);
  std::thread{[may_finish] {
    std::string next;
    if (std::getline(std::cin, next)) may_finish->count_down();
    while (std::getline(std::cin, next)) {
    }
    ::_exit(1);  // end of file means that the demo is gone
  }}.detach();

  for (int done = 1; done <= settings.increments; ++done) {
    finish_callbacks(client);  // waits for those of the previous acquire
    if (done == settings.increments) may_finish->wait();
    increment = done;
    Lease lease = mutex.acquire(options);
    Hold hold{settings.number, lease.token().value, lease.node(), boot_time()};

    const long value = read_counter(counter);
    std::this_thread::sleep_for(settings.hold);
    if (done == settings.hang_at) {
      finish_callbacks(client);
      say("inside");
      for (;;) ::pause();
    }
    write_counter(counter, value + 1);

    if (lease.state() == LeaseState::lost) throw Error{Errc::lock_lost, "increment", lease.node()};
    hold.out = boot_time();
    history.append(to_line(hold));
    lease.release();
    say("did " + std::to_string(done));
  }
  finish_callbacks(client);
  client.close();
  say("done");
}

}  // namespace
}  // namespace custodian::demo

int main(int argc, char* argv[]) {
  custodian::demo::Settings settings;
  int hold = 0;
  int session_timeout = 0;
  int touch_interval = 0;
  CLI::App app{"A worker of custodian-demo, which starts it."};
  app.add_option("--servers", settings.servers)->required();
  app.add_option("--path", settings.path)->required();
  app.add_option("--number", settings.number)->required();
  app.add_option("--increments", settings.increments)->required();
  app.add_option("--directory", settings.directory)->required();
  app.add_option("--session-timeout", session_timeout)->required();
  app.add_option("--touch-interval", touch_interval)->required();
  app.add_option("--hold", hold);
  app.add_option("--hang-at", settings.hang_at);
  CLI11_PARSE(app, argc, argv);
  settings.hold = std::chrono::milliseconds{hold};
  settings.session_timeout = std::chrono::milliseconds{session_timeout};
  settings.touch_interval = std::chrono::milliseconds{touch_interval};
  try {
    custodian::demo::work(settings);
  } catch (const std::exception& error) {
    std::cerr << "worker " << settings.number << ": " << error.what() << '\n';
    ::_exit(1);  // a thread of this process still reads from std::cin
  }
  ::_exit(0);
}
