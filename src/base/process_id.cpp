#include "base/process_id.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace custodian::detail {

namespace {

using ProcessId = std::atomic<pid_t>;

/// A page that the kernel zeroes in each child of a fork; null if the kernel cannot do that.
ProcessId* map_process_id() noexcept {
  constexpr std::size_t size = sizeof(ProcessId);
  void* const page =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  // Invalid advice is tried first: an emulator that accepts it accepts any advice, and ignores it.
  const bool is_heard = ::madvise(page, size, -1) != 0;
  if (is_heard && ::madvise(page, size, MADV_WIPEONFORK) == 0) return new (page) ProcessId{0};
  ::munmap(page, size);
  return nullptr;
}

ProcessId* const known_process_id = map_process_id();

}  // namespace

pid_t process_id() noexcept {
  if (known_process_id == nullptr) return ::getpid();
  pid_t id = known_process_id->load(std::memory_order_relaxed);
  if (id != 0) return id;
  // The first call in this process.
  id = ::getpid();
  known_process_id->store(id, std::memory_order_relaxed);
  return id;
}

}  // namespace custodian::detail
