/// \file
/// Paths of nodes, from users and in servers' answers.

#include "base/paths.hpp"
#include "custodian/error.hpp"
#include "fuzz.hpp"
#include "targets.hpp"
#include "text/printable_text.hpp"

namespace custodian::fuzz {
namespace {

using detail::path_fault;
using detail::PathKind;
using detail::PathPrefix;

void check_arithmetic(std::string_view path) {
  const auto parent = parent_of(path);
  require(!path_fault(parent), "a parent is a valid path");
  if (path == "/") {
    require(parent == "/", "the root is its own parent");
  } else {
    require(join(parent, name_of(path)) == path, "a path is its parent and name");
    require(parent_of(join(path, "x")) == path, "a child's parent is the path");
  }
}

void check_prefix(std::string_view path) {
  for (const auto& prefix : {PathPrefix{}, PathPrefix{"/app"}, PathPrefix{"/", "/app"},
                             PathPrefix{path}, PathPrefix{"/app", path}}) {
    const std::string whole = prefix.add(path);
    require(!path_fault(whole), "a server's path is valid");
    require(prefix.strip(whole) == path, "what is put before a path is taken away again");
    require(whole.starts_with(prefix.root()), "all is below the client's root");
    require(prefix.strip(prefix.root()) == "/", "the client's root is its '/'");
  }
  // A sibling of the prefix is not below it, even if its name begins in the same way.
  require(path == "/" || !PathPrefix{path}.strip(std::string{path} + "x/y"),
          "no path of others is taken for one's own");
}

}  // namespace

void path(std::string_view input) {
  const auto fault = path_fault(input);
  const auto fault_of_prefix = path_fault(input, PathKind::sequential_prefix);
  if (fault) require(is_one_line(*fault), "a fault is one line");
  require(fault || !fault_of_prefix, "a path is good as a prefix, too");
  require(fault_of_prefix.has_value() == path_fault(std::string{input} + "0000000007").has_value(),
          "a prefix is good if the path that a server makes of it is");
  require(fault || cli::is_utf8(input), "a path is UTF-8, whoever decodes it");

  bool is_refused = false;
  try {
    detail::validate_path("fuzz", input);
  } catch (const Error& error) {
    is_refused = true;
    require(error.code() == Errc::invalid_argument, "a refusal is the caller's mistake");
    require(error.path() == input, "a refusal names the path");
    require(is_one_line(error.what()), "a refusal is one line");
  }
  require(is_refused == fault.has_value(), "what has a fault is refused, and nothing else");
  if (fault) return;
  check_arithmetic(input);
  check_prefix(input);
}

}  // namespace custodian::fuzz
