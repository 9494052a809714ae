#pragma once

/// \file
/// Options whose value is one of a few words.

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace custodian::cli {

/// `value` must outlive the parsing.
template <typename Value>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Value& value,
                        const std::map<std::string, Value>& words, const std::string& description) {
  std::string list;
  for (const auto& [word, meaning] : words) list += (list.empty() ? "" : ", ") + word;
  return app
      .add_option_function<std::string>(
          name,
          [name, words, list, &value](const std::string& text) {
            const auto found = words.find(text);
            if (found == words.end()) {
              throw CLI::ValidationError{name, "'" + text + "' is none of " + list};
            }
            value = found->second;
          },
          description)
      ->type_name("WHAT");
}

}  // namespace custodian::cli
