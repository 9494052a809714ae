#include "support/shortage.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t most_of_this_thread = SIZE_MAX;

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = size > most_of_this_thread ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return size > most_of_this_thread ? nullptr : std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace custodian::tests {

Shortage::Shortage(std::size_t most_at_once) noexcept { most_of_this_thread = most_at_once; }
Shortage::~Shortage() { most_of_this_thread = SIZE_MAX; }

}  // namespace custodian::tests
