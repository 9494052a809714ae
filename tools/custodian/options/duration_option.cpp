#include "options/duration_option.hpp"

#include <functional>
#include <stdexcept>
#include <utility>

#include "text/duration.hpp"

namespace custodian::cli {
namespace {

CLI::Option* add(CLI::App& app, const std::string& name, const std::string& description,
                 std::function<void(std::chrono::nanoseconds)> store) {
  return app
      .add_option_function<std::string>(
          name,
          [name, store = std::move(store)](const std::string& text) {
            try {
              store(parse_duration(text));
            } catch (const std::invalid_argument& error) {
              throw CLI::ValidationError{name, error.what()};
            }
          },
          description)
      ->type_name("DURATION");
}

void require_positive(std::chrono::nanoseconds given) {
  if (given <= given.zero()) throw std::invalid_argument{"must be more than nothing"};
}

}  // namespace

CLI::Option* add_duration_option(CLI::App& app, const std::string& name,
                                 std::chrono::milliseconds& value, const std::string& description) {
  return add(app, name, description, [&value](std::chrono::nanoseconds given) {
    require_positive(given);
    value = std::chrono::ceil<std::chrono::milliseconds>(given);
  });
}

CLI::Option* add_duration_option(CLI::App& app, const std::string& name,
                                 std::optional<std::chrono::nanoseconds>& value,
                                 const std::string& description) {
  return add(app, name, description, [&value](std::chrono::nanoseconds given) { value = given; });
}

CLI::Option* add_positive_duration_option(CLI::App& app, const std::string& name,
                                          std::optional<std::chrono::nanoseconds>& value,
                                          const std::string& description) {
  return add(app, name, description, [&value](std::chrono::nanoseconds given) {
    require_positive(given);
    value = given;
  });
}

}  // namespace custodian::cli
