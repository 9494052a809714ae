// custodian-testing-guardian: stands between a test and the server that it started, so that neither
// the server nor its directory outlives the test, however the test ends.
//
//   custodian-testing-guardian <parent directory> <program> <argument>...
//
// Descriptor 0 must be a socket to the test. The guardian creates a directory of its own under
// <parent directory>, and obeys one-line commands from the socket (see obey()), each answered with
// one line; one of them runs <program> in the directory. At end of file, which the kernel delivers
// even when the test is killed, the guardian kills the program, removes the directory,
// and ends.
//
// Why a program of its own: Linux sends the parent-death signal when the *thread* that started the
// child ends. So the signal cannot bind a server to a test with threads, but it can bind a server
// to this process, which has a single thread. And after the fork() of a process with threads, the
// child can do next to nothing safely.
//
// Why it detaches: CTest kills a test that hangs with all its descendants, and would kill the
// guardian before it cleans up; Ctrl-C reaches the whole process group of a terminal.

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

constexpr int control = 0;

void detach() {
  if (const pid_t pid = fork(); pid != 0) _exit(pid > 0 ? 0 : 1);
  setsid();
}

// Closes the descriptors that the test had open without close-on-exec.
void close_inherited_descriptors() {
  std::vector<int> descriptors;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd", ignored}) {
    descriptors.push_back(std::atoi(entry.path().filename().c_str()));
  }
  for (const int descriptor : descriptors) {
    if (descriptor > control) close(descriptor);
  }
  // The guardian's output goes to /dev/null: otherwise a reader of the test's output would also
  // wait for the guardian's end.
  const int output = open("/dev/null", O_RDWR);
  if (output != 1 || dup(output) != 2) _exit(1);
}

void reply(const std::string& line) {
  const std::string bytes = line + "\n";
  // Commands are answered one at a time, so an answer fits into the socket's buffer. If the test is
  // gone, the next read reports that.
  [[maybe_unused]] const auto sent = send(control, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

// Reads the next command; nothing at end of file.
std::optional<std::string> read_command() {
  std::string line;
  for (char character = 0;;) {
    const auto count = read(control, &character, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    if (character == '\n') return line;
    line += character;
  }
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) return "exited by signal " + std::to_string(WTERMSIG(status));
  return "exited with status " + std::to_string(WEXITSTATUS(status));
}

// The guarded program. It runs, is paused, or is gone.
class Program {
 public:
  explicit Program(char** command) : command_{command} {}

  std::string start();
  std::string pause() { return change(SIGSTOP, WUNTRACED); }
  std::string resume() { return change(SIGCONT, WCONTINUED); }
  std::string terminate(std::chrono::milliseconds patience);
  std::string kill();
  std::string poll() { return wait(WNOHANG) ? last_ : "running"; }

 private:
  [[noreturn]] void exec(int error_pipe);
  std::string change(int signal, int wait_option);
  bool wait(int options);

  char** command_;
  pid_t pid_ = 0;
  std::string last_ = "exited before it was started";
};

std::string Program::start() {
  if (pid_ != 0 && !wait(WNOHANG)) return "failed it is running already";
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) return std::string{"failed "} + std::strerror(errno);
  pid_ = fork();
  if (pid_ == 0) exec(error_pipe[1]);
  const int fork_error = errno;
  close(error_pipe[1]);
  int error = pid_ < 0 ? fork_error : 0;
  if (pid_ < 0) pid_ = 0;
  // A successful exec closes the pipe; after a failed one the child writes the error into it.
  [[maybe_unused]] const auto count = read(error_pipe[0], &error, sizeof error);
  close(error_pipe[0]);
  if (error == 0) return "started";
  if (pid_ != 0) wait(0);
  return std::string{"failed "} + std::strerror(error);
}

void Program::exec(int error_pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int log = open("server.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (input >= 0 && log >= 0 && dup2(input, 0) == 0 && dup2(log, 1) == 1 && dup2(log, 2) == 2)
    execvp(command_[0], command_);
  const int error = errno;
  [[maybe_unused]] const auto count = write(error_pipe, &error, sizeof error);
  _exit(127);
}

// Waits for the program. True if it is gone.
bool Program::wait(int options) {
  if (pid_ == 0) return true;
  int status = 0;
  pid_t result = 0;
  do {
    result = waitpid(pid_, &status, options);
  } while (result < 0 && errno == EINTR);
  if (result != pid_ || WIFSTOPPED(status) || WIFCONTINUED(status)) return false;
  last_ = describe(status);
  pid_ = 0;
  return true;
}

// Sends the signal, and answers when the program has stopped or continued.
std::string Program::change(int signal, int wait_option) {
  if (wait(WNOHANG)) return last_;
  ::kill(pid_, signal);
  return wait(wait_option) ? last_ : "done";
}

std::string Program::terminate(std::chrono::milliseconds patience) {
  if (wait(WNOHANG)) return last_;
  ::kill(pid_, SIGTERM);
  ::kill(pid_, SIGCONT);
  sigset_t child_signal;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!wait(WNOHANG)) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero()) return kill();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec limit{seconds.count(), std::chrono::nanoseconds{left - seconds}.count()};
    sigtimedwait(&child_signal, nullptr, &limit);
  }
  return last_;
}

std::string Program::kill() {
  if (pid_ != 0) ::kill(pid_, SIGKILL);
  wait(0);
  return last_;
}

std::string obey(Program& program, std::string_view command) {
  if (command == "start") return program.start();
  if (command == "pause") return program.pause();
  if (command == "resume") return program.resume();
  if (command == "terminate") return program.terminate(std::chrono::seconds{10});
  if (command == "kill") return program.kill();
  if (command == "poll") return program.poll();
  return "failed no such command";
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc < 3) return 2;
  detach();
  close_inherited_descriptors();
  // Only end of file means that the owner is gone, so signals are ignored.
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) std::signal(signal, SIG_IGN);
  sigset_t child_signal;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_signal, nullptr);

  std::string directory = std::string{argv[1]} + "/custodian-testing-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr || chdir(directory.c_str()) != 0) {
    reply(std::string{"failed "} + std::strerror(errno));
    return 1;
  }
  reply("directory " + directory);

  Program program{argv + 2};
  while (const auto command = read_command()) reply(obey(program, *command));

  program.kill();
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  return 0;
}
