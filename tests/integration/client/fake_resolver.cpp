#include "integration/client/fake_resolver.hpp"

#include <dlfcn.h>
#include <netdb.h>

#include <chrono>
#include <string_view>
#include <thread>

using custodian::tests::Resolving;

extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                           addrinfo** result) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));

  const std::string_view name = node == nullptr ? "" : node;
  const bool numeric = name.find_first_not_of("0123456789.:abcdef") == std::string_view::npos;
  if (numeric) return real(node, service, hints, result);

  ++custodian::tests::lookups;
  if (custodian::tests::resolving == Resolving::failing) return EAI_AGAIN;
  if (custodian::tests::resolving == Resolving::hanging) {
    std::this_thread::sleep_for(std::chrono::seconds{30});
  }
  // Each of these names has two loopback addresses, and no server at the first.
  const char* first = nullptr;
  if (name == "two-addresses.test") first = "127.0.0.9";
  if (name == "two-families.test") first = "::1";
  if (first == nullptr) return real(node, service, hints, result);
  addrinfo* second = nullptr;
  if (const int rc = real(first, service, hints, result); rc != 0) return rc;
  if (const int rc = real("127.0.0.1", service, hints, &second); rc != 0) return rc;
  addrinfo* last = *result;
  while (last->ai_next != nullptr) last = last->ai_next;
  last->ai_next = second;
  return 0;
}
