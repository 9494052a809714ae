#pragma once

/// \file
/// These checks of arguments are for the client only; custodian/authoring has those that recipes
/// use, too.

#include <cstddef>
#include <string_view>
#include <vector>

#include "custodian/client_options.hpp"

namespace custodian::detail {

class ClientCore;

/// Throws Error (invalid_argument) if a credential has a wrong form, or is too large for a request.
void check_credentials(std::string_view operation,
                       const std::vector<ClientOptions::Credential>& credentials,
                       std::size_t max_request_size);
/// Throws Error (invalid_argument) if a transaction that writes these data into the node twice is
/// larger than the servers accept.
void check_written_twice(const ClientCore& core, std::string_view operation, std::string_view path,
                         std::string_view data);

}  // namespace custodian::detail
