#pragma once

/// \file
/// A choice option takes one of a few words.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace custodian::cli {

/// Adds an option that takes one of `words`. `choose` is called with the index of the given word.
CLI::Option* add_word_option(CLI::App& app, const std::string& name, std::vector<std::string> words,
                             std::function<void(std::size_t)> choose,
                             const std::string& description);

/// Adds an option that takes a word of `choices`. `value` must outlive the parsing.
template <typename Value>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Value& value,
                        const std::vector<std::pair<std::string, Value>>& choices,
                        const std::string& description) {
  std::vector<std::string> words;
  std::vector<Value> values;
  for (const auto& [word, meaning] : choices) {
    words.push_back(word);
    values.push_back(meaning);
  }
  return add_word_option(
      app, name, std::move(words),
      [values = std::move(values), &value](std::size_t chosen) { value = values.at(chosen); },
      description);
}

}  // namespace custodian::cli
