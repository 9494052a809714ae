#include "choice_option.hpp"

#include <algorithm>
#include <utility>

namespace custodian::cli {

CLI::Option* add_word_option(CLI::App& app, const std::string& name, std::vector<std::string> words,
                             std::function<void(std::size_t)> choose,
                             const std::string& description) {
  return app
      .add_option_function<std::string>(
          name,
          [name, words = std::move(words), choose = std::move(choose)](const std::string& text) {
            const auto found = std::ranges::find(words, text);
            if (found == words.end()) {
              throw CLI::ValidationError{
                  name, "'" + text + "' is none of " + CLI::detail::join(words, ", ")};
            }
            choose(static_cast<std::size_t>(found - words.begin()));
          },
          description)
      ->type_name("WHAT");
}

}  // namespace custodian::cli
