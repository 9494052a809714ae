#pragma once

/// \file
/// The one place where the tests' servers and clients get TLS. With CUSTODIAN_TEST_TLS=1 in the
/// environment they use it, and clients verify chain and name, by an authority that this process
/// creates. A test passes the options of each server and client through secured(), and takes
/// addresses from entry_of(); no test asks whether there is TLS.
///
/// Servers that CUSTODIAN_TEST_SERVERS names are used unchanged.

#include <string>
#include <vector>

#include "custodian/client_options.hpp"
#include "custodian/testing/testing_cluster.hpp"
#include "custodian/testing/testing_server.hpp"

namespace custodian::tests {

/// Returns whether the tests' servers and clients use TLS.
[[nodiscard]] bool over_tls();

/// The PEM file of the authority, for clients in other processes. It is gone when this process
/// ends.
[[nodiscard]] const std::string& authority_file();

/// Arguments for a program that takes the authority's file as `--tls-ca`, as the command does; none
/// without TLS.
[[nodiscard]] std::vector<std::string> words_for_tls();

/// Adds a certificate to a server's options unless they have one.
[[nodiscard]] testing::TestingServerOptions secured(testing::TestingServerOptions options = {});
[[nodiscard]] testing::TestingClusterOptions secured(testing::TestingClusterOptions options);

/// Adds the trusted authority to the options of such a server's client.
[[nodiscard]] ClientOptions secured(ClientOptions options);

/// The address at which clients with secured() options reach such a server.
[[nodiscard]] const testing::ServerEndpoint& entry_of(const testing::TestingServer& server);
/// The addresses at which clients with secured() options reach the members of a cluster, or the
/// proxies in front of them.
[[nodiscard]] std::string connect_string(const testing::TestingCluster& cluster);

}  // namespace custodian::tests
