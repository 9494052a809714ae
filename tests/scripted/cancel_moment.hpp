#pragma once

/// \file
/// The moment at which a play cancels the operation that it plays.

namespace custodian::tests {

/// The moments around one request of the operation.
enum class CancelMoment { request_sent, before_reply, after_reply };

}  // namespace custodian::tests
