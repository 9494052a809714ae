#pragma once

/// \file
/// path_of() makes a node's path from a pattern and values. No value can make the path lead to a
/// place that the pattern does not name.
///
///     path_of("/orders/{}/stock", order.id)      // "/orders/17/stock"
///     path_of("/users/{}", "../admin")           // "/users/..%2Fadmin"
///
/// Threads: any.

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "custodian/export.hpp"

namespace custodian {

namespace recipes_detail {
[[nodiscard]] CUSTODIAN_EXPORT std::string fill_path(std::string_view pattern,
                                                     const std::vector<std::string>& values);

template <typename T>
inline constexpr bool is_character =
    std::same_as<T, char> || std::same_as<T, signed char> || std::same_as<T, unsigned char> ||
    std::same_as<T, wchar_t> || std::same_as<T, char8_t> || std::same_as<T, char16_t> ||
    std::same_as<T, char32_t>;
}  // namespace recipes_detail

/// A value that can stand in a path: text, or a whole number.
template <typename T>
concept PathValue = std::convertible_to<const T&, std::string_view> ||
    (std::integral<T> && !std::same_as<T, bool> && !recipes_detail::is_character<T>);

namespace recipes_detail {
template <PathValue Value>
[[nodiscard]] std::string text_of(const Value& value) {
  if constexpr (std::is_pointer_v<Value>) {
    return value == nullptr ? std::string{} : std::string{value};
  } else if constexpr (std::convertible_to<const Value&, std::string_view>) {
    return std::string{std::string_view{value}};
  } else {
    return std::to_string(value);
  }
}
}  // namespace recipes_detail

/// Returns the pattern, with each `{}` replaced by a value, in order. Each value stays within its
/// part of the path, and different values make different paths: '/', '%', control characters, all
/// bytes beyond ASCII, and values that are "." or ".." are escaped as in a URL, "%2F".
///
/// Throws Error (invalid_argument), naming the reason: there are more or fewer values than `{}`; a
/// text is empty, or a null pointer; two `{}` stand in one part ("/{}-{}" would give the same path
/// for "a-b", "c" and for "a", "b-c"); there is another brace; the path does not begin with '/', or
/// is "/zookeeper" or below it, which is ZooKeeper's own.
///
/// The path of a lock must never be below the path of another lock, since a value like
/// "x-lock-0000000000" would count as a contender of that other lock.
template <PathValue... Values>
[[nodiscard]] std::string path_of(std::string_view pattern, const Values&... values) {
  return recipes_detail::fill_path(pattern,
                                   std::vector<std::string>{recipes_detail::text_of(values)...});
}

}  // namespace custodian
