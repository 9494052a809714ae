#include "options/path_argument.hpp"

namespace custodian::cli {

CLI::Option* add_path_argument(CLI::App& app, std::string& path, const std::string& description) {
  const auto must_be_absolute = [](const std::string& given) {
    return given.starts_with('/') ? std::string{}
                                  : "it must begin with '/', as /locks/backup does: " + given;
  };
  return app.add_option("PATH", path, description)->check(must_be_absolute, "");
}

}  // namespace custodian::cli
