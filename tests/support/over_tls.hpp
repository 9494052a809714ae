#pragma once

/// \file
/// The one door by which the tests' servers and clients get TLS: with CUSTODIAN_TEST_TLS=1 in the
/// environment they speak it, and clients verify chain and name, by an authority that this process
/// makes. A test passes the options of each server and client through secured(), and takes
/// addresses from entry_of(); none asks for itself whether there is TLS.
///
/// Servers that CUSTODIAN_TEST_SERVERS names are used as it says.

#include <string>
#include <vector>

#include "custodian/client_options.hpp"
#include "custodian/testing/testing_cluster.hpp"
#include "custodian/testing/testing_server.hpp"

namespace custodian::tests {

/// Whether the tests' servers and clients speak TLS.
[[nodiscard]] bool over_tls();

/// The PEM file of the authority, for clients in other processes. It is gone with this process.
[[nodiscard]] const std::string& authority_file();

/// What a program gets that takes the authority's file as `--tls-ca`, as the command does: nothing
/// without TLS.
[[nodiscard]] std::vector<std::string> words_for_tls();

/// The options of a server, completed by its certificate unless they have one.
[[nodiscard]] testing::TestingServerOptions secured(testing::TestingServerOptions options = {});
[[nodiscard]] testing::TestingClusterOptions secured(testing::TestingClusterOptions options);

/// The options of a client of such a server, completed by the authority that it trusts.
[[nodiscard]] ClientOptions secured(ClientOptions options);

/// Where clients with secured() options reach such a server.
[[nodiscard]] const testing::ServerEndpoint& entry_of(const testing::TestingServer& server);
/// Where they reach the members of a cluster, or the proxies in front of them.
[[nodiscard]] std::string connect_string(const testing::TestingCluster& cluster);

}  // namespace custodian::tests
