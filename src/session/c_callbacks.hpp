#pragma once

/// \file
/// Callbacks has the functions that the C client calls back. Only c_client.cpp includes this file.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "session/c_client.hpp"
#include "session/c_codec.hpp"
#include "session/c_log_line.hpp"
#include "session/c_multi.hpp"
#include "session/library_call.hpp"
#include "session/placeholder.hpp"

namespace custodian::detail {

// NOLINTNEXTLINE(performance-no-int-to-ptr): a key, never followed
inline void* to_context(std::uint64_t key) { return reinterpret_cast<void*>(key); }
inline std::uint64_t to_key(const void* context) {
  return reinterpret_cast<std::uintptr_t>(context);
}

inline WatchEventType to_event_type(int type) {
  if (type == ZOO_CREATED_EVENT) return WatchEventType::created;
  if (type == ZOO_CHANGED_EVENT) return WatchEventType::data_changed;
  if (type == ZOO_CHILD_EVENT) return WatchEventType::children_changed;
  return WatchEventType::deleted;
}

/// Each callback only appends an event, and none throws: an exception would pass through the
/// C client's frames. An event that cannot be made, because memory is short or the C client left
/// out a part of the reply, ends the connection.
struct Callbacks {
  /// Lets `function` append an event to the list.
  template <typename Function>
  static void note(Function function) noexcept {
    try {
      function(LibraryCall::client().events_);
    } catch (...) {
      LibraryCall::client().note_lost_ = true;
    }
  }

  template <typename Fill>
  static void complete(int rc, const void* operation, Fill fill) noexcept {
    note([&](std::vector<Event>& events) {
      auto& completed = std::get<event::Completed>(events.emplace_back(event::Completed{}));
      completed.operation = to_key(operation);
      completed.reply.error = ServerErrc::connection_loss;  // kept if fill() throws
      fill(completed.reply);
      completed.reply.error = to_error(rc);
    });
  }
  static void complete(int rc, const void* operation) noexcept {
    complete(rc, operation, [](Reply&) {});
  }

  static void created(int rc, const char* path, const ::Stat* stat,
                      const void* operation) noexcept {
    complete(rc, operation, [&](Reply& reply) {
      if (rc != ZOK) return;
      reply.path = &present(path);
      reply.stat = to_stat(present(stat));
    });
  }

  static void stat(int rc, const ::Stat* stat, const void* operation) noexcept {
    complete(rc, operation, [&](Reply& reply) {
      if (rc == ZOK) reply.stat = to_stat(present(stat));
    });
  }

  static void data(int rc, const char* value, int length, const ::Stat* stat,
                   const void* operation) noexcept {
    complete(rc, operation, [&](Reply& reply) {
      if (rc != ZOK) return;
      // For a node without data, the length is -1.
      if (value != nullptr && length > 0) {
        reply.data.assign(value, static_cast<std::size_t>(length));
      }
      reply.stat = to_stat(present(stat));
    });
  }

  static void children(int rc, const String_vector* names, const ::Stat* stat,
                       const void* operation) noexcept {
    complete(rc, operation, [&](Reply& reply) {
      if (rc != ZOK) return;
      reply.children = to_strings(present(names));
      reply.stat = to_stat(present(stat));
    });
  }

  static void acl(int rc, ACL_vector* acl, ::Stat* stat, const void* operation) noexcept {
    complete(rc, operation, [&](Reply& reply) {
      if (rc != ZOK) return;
      reply.acl = to_acl(present(acl));
      reply.stat = to_stat(present(stat));
    });
  }

  static void done(int rc, const void* operation) noexcept { complete(rc, operation); }
  static void synced(int rc, const char*, const void* operation) noexcept {
    complete(rc, operation);
  }

  static void committed(int rc, const void* operation) noexcept {
    const auto multi = LibraryCall::client().multis_.extract(to_key(operation));
    complete(rc, operation, [&](Reply& reply) { reply.results = multi.mapped()->results(rc); });
  }

  static void watched(_zhandle*, int type, int, const char* path, void*) noexcept {
    // A session event reaches every watch and ends none. read_state() reads the state after each
    // call instead.
    if (type == ZOO_SESSION_EVENT || type == ZOO_NOTWATCHING_EVENT) return;
    note([&](std::vector<Event>& events) {
      events.emplace_back(event::Watched{path, to_event_type(type)});
    });
  }

  static void logged(const char* line) noexcept {
    try {
      CClient& client = LibraryCall::client();
      if (!client.logs_) return;
      auto parsed = parse_c_log_line(line, Placeholder::of_this_process().text(), client.server_);
      if (!parsed) return;
      client.events_.emplace_back(event::Logged{parsed->level, std::move(parsed->message)});
    } catch (...) {
      // The line is dropped.
    }
  }
};

}  // namespace custodian::detail
