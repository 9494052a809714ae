#pragma once

/// \file
/// What the client itself refuses, beside what recipes may ask (custodian/authoring).

#include <cstddef>
#include <string_view>
#include <vector>

#include "custodian/client_options.hpp"

namespace custodian::detail {

class ClientCore;

/// Throws Error (invalid_argument) if the client cannot have these.
void check_credentials(std::string_view operation,
                       const std::vector<ClientOptions::Credential>& credentials,
                       std::size_t max_request_size);
/// Throws Error (invalid_argument) if the servers do not take a transaction that writes these data
/// into the node twice.
void check_written_twice(const ClientCore& core, std::string_view operation, std::string_view path,
                         std::string_view data);

}  // namespace custodian::detail
