#include "client/client_runtime.hpp"

#include <boost/asio/post.hpp>

namespace custodian {

namespace asio = boost::asio;

Client::Runtime::~Runtime() {
  // The threads are not joined, because this may be one of them: each keeps the runtime alive.
  for (std::thread& thread : threads) thread.detach();
}

void Client::Runtime::run() {
  const std::lock_guard starting{mutex};
  for (asio::io_context* context : {&io, &callbacks}) {
    ++running;
    threads.emplace_back([self = shared_from_this(), context] {
      context->run();
      const std::lock_guard lock{self->mutex};
      --self->running;
      self->thread_ended.notify_all();
    });
  }
}

void Client::Runtime::let_go() {
  asio::post(io, [self = shared_from_this()] {
    self->io_work.reset();
    self->callback_work.reset();
  });
}

void Client::Runtime::join(Deadline deadline) {
  std::unique_lock lock{mutex};
  for (const std::thread& thread : threads) {
    if (thread.get_id() == std::this_thread::get_id()) return;
  }
  if (!thread_ended.wait_until(lock, deadline.time_point(), [this] { return running == 0; })) {
    return;
  }
  for (std::thread& thread : threads) thread.join();
  threads.clear();
}

}  // namespace custodian
