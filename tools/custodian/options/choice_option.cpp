#include "options/choice_option.hpp"

#include <algorithm>
#include <utility>

namespace custodian::cli {

CLI::Option* add_word_option(CLI::App& app, const std::string& name, std::vector<std::string> words,
                             std::function<void(std::size_t)> choose,
                             const std::string& description) {
  CLI::callback_t choose_given = [name, words = std::move(words),
                                  choose = std::move(choose)](const CLI::results_t& given) {
    const auto found = std::ranges::find(words, given.back());
    if (found == words.end()) {
      throw CLI::ValidationError{
          name, "'" + given.back() + "' is none of " + CLI::detail::join(words, ", ")};
    }
    choose(static_cast<std::size_t>(found - words.begin()));
    return true;
  };
  return app.add_option(name, std::move(choose_given), description)->type_name("WHAT");
}

}  // namespace custodian::cli
