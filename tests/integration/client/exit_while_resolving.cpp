/// \file
/// A process that exits during a name look-up that takes half a minute.

#include "custodian/client.hpp"
#include "integration/client/fake_resolver.hpp"

int main() {
  custodian::tests::resolving = custodian::tests::Resolving::hanging;
  const custodian::Client client{"somewhere.test:2181"};
  while (custodian::tests::lookups == 0) std::this_thread::yield();
}
