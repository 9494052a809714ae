#pragma once

/// \file
/// When a play cancels the operation that it plays.

namespace custodian::tests {

/// Around one request of the operation.
enum class CancelMoment { request_sent, before_reply, after_reply };

}  // namespace custodian::tests
