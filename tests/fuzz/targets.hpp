#pragma once

/// \file
/// All targets. A new target needs a function here, a file of its name, a folder of its name in
/// corpus/, and a line in CMakeLists.txt.

#include <array>
#include <string_view>

namespace custodian::fuzz {

void chaos_history(std::string_view input);
void command_line(std::string_view input);
void connection_string(std::string_view input);
void contenders(std::string_view input);
void demo_history(std::string_view input);
void duration(std::string_view input);
void ensemble_config(std::string_view input);
void ensemble_layout(std::string_view input);
void map_copy(std::string_view input);
void packets(std::string_view input);
void path(std::string_view input);
void path_pattern(std::string_view input);
void period_record(std::string_view input);
void permits(std::string_view input);
void printable(std::string_view input);
void process_stat(std::string_view input);
void queues(std::string_view input);
void recipes(std::string_view input);
void replies(std::string_view input);
void server_answers(std::string_view input);
void service_instance(std::string_view input);
void session(std::string_view input);
void token(std::string_view input);

struct Target {
  std::string_view name;
  void (*run)(std::string_view input);
};

inline constexpr std::array targets{
    Target{"chaos_history", &chaos_history},
    Target{"command_line", &command_line},
    Target{"connection_string", &connection_string},
    Target{"contenders", &contenders},
    Target{"demo_history", &demo_history},
    Target{"duration", &duration},
    Target{"ensemble_config", &ensemble_config},
    Target{"ensemble_layout", &ensemble_layout},
    Target{"map_copy", &map_copy},
    Target{"packets", &packets},
    Target{"path", &path},
    Target{"path_pattern", &path_pattern},
    Target{"period_record", &period_record},
    Target{"permits", &permits},
    Target{"printable", &printable},
    Target{"process_stat", &process_stat},
    Target{"queues", &queues},
    Target{"recipes", &recipes},
    Target{"replies", &replies},
    Target{"server_answers", &server_answers},
    Target{"service_instance", &service_instance},
    Target{"session", &session},
    Target{"token", &token},
};

}  // namespace custodian::fuzz
