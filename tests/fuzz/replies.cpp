/// \file
/// A server's bytes on one connection, and what the C client would make of them. The input's first
/// line lists the requests, a letter each; the rest is what the server sends.

#include <cstdint>

#include "fuzz.hpp"
#include "session/reply_check.hpp"
#include "targets.hpp"

namespace custodian::fuzz {
namespace {

using detail::ExpectedReply;
using detail::Finding;
using detail::ReplyBody;
using detail::ReplyCheck;

/// Reads a frame as the C client does, which keeps everything that it reads. A read beyond the
/// frame is Broken.
class Library {
 public:
  explicit Library(std::string_view frame) : left_{frame} {}

  std::int32_t number() {
    std::uint32_t value = 0;
    for (const char each : take(4)) value = value << 8U | static_cast<unsigned char>(each);
    return static_cast<std::int32_t>(value);
  }
  bool boolean() { return take(1).front() != '\0'; }
  void stat() { take(68); }
  void string() {
    const std::int32_t length = number();
    require(length >= 0, "a string has a length");
    kept_ += take(static_cast<std::size_t>(length));
  }
  void buffer() {
    const std::int32_t length = number();
    require(length >= -1, "a buffer has a length, or is none");
    if (length > 0) kept_ += take(static_cast<std::size_t>(length));
  }
  std::int32_t count() {
    const std::int32_t elements = number();
    require(elements >= 0 && static_cast<std::size_t>(elements) <= left_.size(),
            "no memory is taken for what is not there");
    return elements;
  }
  std::string_view take(std::size_t bytes) {
    require(bytes <= left_.size(), "the library stays within the frame");
    const auto taken = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return taken;
  }

 private:
  std::string_view left_;
  std::string kept_;
};

void read_body(Library& library, ReplyBody body) {
  switch (body) {
    case ReplyBody::nothing:
    case ReplyBody::results: return;
    case ReplyBody::path: return library.string();
    case ReplyBody::stat: return library.stat();
    case ReplyBody::path_and_stat: library.string(); break;
    case ReplyBody::data_and_stat: library.buffer(); break;
    case ReplyBody::names_and_stat:
      for (auto left = library.count(); left > 0; --left) library.string();
      break;
    case ReplyBody::acl_and_stat:
      for (auto left = library.count(); left > 0; --left) {
        library.number();
        library.string();
        library.string();
      }
      break;
  }
  library.stat();
}

void read_results(Library& library, const std::vector<ReplyBody>& results) {
  std::size_t read = 0;
  for (;;) {
    const std::int32_t type = library.number();
    const bool done = library.boolean();
    library.number();
    if (done) break;
    require(read < results.size(), "there are no more results than operations");
    if (type == -1) {
      library.number();
    } else {
      read_body(library, results[read]);
    }
    ++read;
  }
  require(read == results.size(), "there are as many results as operations");
}

ExpectedReply expected(char letter) {
  switch (letter) {
    case 'p': return {ReplyBody::path};
    case 'c': return {ReplyBody::path_and_stat};
    case 's': return {ReplyBody::stat};
    case 'd': return {ReplyBody::data_and_stat};
    case 'l': return {ReplyBody::names_and_stat};
    case 'a': return {ReplyBody::acl_and_stat};
    case 'm': return {ReplyBody::results, {ReplyBody::path, ReplyBody::stat, ReplyBody::nothing}};
    default: return {ReplyBody::nothing};
  }
}

void read_frame(std::string_view frame, std::string_view& asked) {
  Library library{frame};
  const std::int32_t xid = library.number();
  library.take(8);
  const std::int32_t error = library.number();
  if (xid == -1) {
    library.take(8);
    return library.string();
  }
  if (xid == -2 || xid == -8) return;
  require(xid != -4, "nobody has presented credentials");
  require(!asked.empty(), "it answers a request");
  const ExpectedReply reply = expected(asked.front());
  asked.remove_prefix(1);
  if (error != 0) return;
  if (reply.body == ReplyBody::results) {
    read_results(library, reply.results);
  } else {
    read_body(library, reply.body);
  }
}

/// Checks that a verdict on the beginning of a frame does not contradict that on the whole frame.
void check_beginnings(const ReplyCheck& before, std::string_view stream, const Finding& whole) {
  for (const std::size_t seen : {std::size_t{3}, stream.size() / 2, stream.size() - 1}) {
    if (seen >= stream.size() || seen >= whole.size) continue;
    ReplyCheck copy = before;
    const Finding part = copy.examine(stream.substr(0, seen));
    require(part.kind == Finding::Kind::partial && part.size == (seen < 4 ? 4 : whole.size),
            "a part is known for one, and how long the whole is");
    if (seen < 64) continue;
    const Finding beginning = ReplyCheck{before}.examine_beginning(stream.substr(0, seen));
    if (whole.kind != Finding::Kind::good || beginning.kind == Finding::Kind::good) continue;
    require(beginning.fault == "too many results to look at",
            "the beginning of what is good is good");
  }
}

}  // namespace

void replies(std::string_view input) {
  std::string_view asked = take_line(input).substr(0, 64);
  ReplyCheck check{0};
  const Finding handshake = check.examine(input);
  if (handshake.kind != Finding::Kind::good) return;
  require(handshake.size == 40 || handshake.size == 41, "the library reads 41 bytes, or 40");
  input.remove_prefix(handshake.size);
  for (const char letter : asked) check.expect(expected(letter));
  for (;;) {
    const ReplyCheck before = check;
    const Finding found = check.examine(input);
    require((found.kind == Finding::Kind::fault) != found.fault.empty(), "a fault has a name");
    if (found.kind != Finding::Kind::good) {
      require(check.examine(input).fault == found.fault, "a fault stays one, and a part a part");
    }
    if (found.kind != Finding::Kind::partial && found.size > 0)
      check_beginnings(before, input, found);
    if (found.kind != Finding::Kind::good) return;
    read_frame(input.substr(4, found.size - 4), asked);
    input.remove_prefix(found.size);
  }
}

}  // namespace custodian::fuzz
