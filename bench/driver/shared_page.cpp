#include "shared_page.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace custodian::bench {
namespace {

constexpr std::size_t size = 4096;

[[noreturn]] void fail(const std::string& file) {
  throw std::system_error{errno, std::generic_category(), file};
}

}  // namespace

SharedPage::SharedPage(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0 || ::ftruncate(descriptor, size) != 0) fail(file);
  void* page = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (page == MAP_FAILED) fail(file);
  words_ = static_cast<std::int64_t*>(page);
}

SharedPage::~SharedPage() { ::munmap(words_, size); }

void SharedPage::clear() {
  for (int word = 0; word < 3; ++word) set(word, 0);
}

bool SharedPage::enter(std::int64_t who) {
  const bool alone = get(1) == 0;
  set(1, who);
  return alone;
}

bool SharedPage::leave(std::int64_t who, std::int64_t now) {
  // The count is read and written in two steps, so that two simultaneous holders add only one hold.
  set(0, get(0) + 1);
  const bool alone = get(1) == who;
  set(1, 0);
  set(2, now);
  return alone;
}

// The words are relaxed atomics: a lock that fails is to be counted, and must not cause undefined
// behaviour.
std::int64_t SharedPage::get(int word) const {
  return std::atomic_ref{words_[word]}.load(std::memory_order_relaxed);
}

void SharedPage::set(int word, std::int64_t value) {
  std::atomic_ref{words_[word]}.store(value, std::memory_order_relaxed);
}

}  // namespace custodian::bench
