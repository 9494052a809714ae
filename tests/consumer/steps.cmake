# Common steps of the tests in this folder. SETTINGS (-D) names a file that describes the build around them: SOURCE_DIR
# and BUILD_DIR (Custodian's), WORK_DIR, CXX_COMPILER, CXX_LAUNCHER, BUILD_TYPE, GENERATOR, PKG_CONFIG, DISCOVERY, PROMETHEUS.
cmake_minimum_required(VERSION 3.25)
include(${SETTINGS})

set(stranger ${CMAKE_CURRENT_LIST_DIR}/stranger)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# output_of(<variable> <command>...)
function(output_of result)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

# Builds the stranger's program as a CMake project in a folder, and runs it. Further arguments go to CMake.
function(try_with_cmake folder)
  file(REMOVE_RECURSE ${folder})
  run(${CMAKE_COMMAND} -S ${stranger} -B ${folder} -G ${GENERATOR}
    -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
    -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
    -DCMAKE_CXX_COMPILER_LAUNCHER=${CXX_LAUNCHER}
    ${ARGN})
  run(${CMAKE_COMMAND} --build ${folder} --parallel 2)
  run(${folder}/stranger)
  if(EXISTS ${folder}/discovery)
    run(${folder}/discovery)
  endif()
  if(EXISTS ${folder}/metrics)
    run(${folder}/metrics)
  endif()
endfunction()

# Configures a project of the stranger's, which must fail with a reason that matches a regular expression, wherever
# CMake wraps its output. Further arguments go to CMake.
function(expect_refusal project reason folder)
  file(REMOVE_RECURSE ${folder})
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${stranger}/${project} -B ${folder} -G ${GENERATOR}
      -DCMAKE_CXX_COMPILER=${CXX_COMPILER} ${ARGN}
    OUTPUT_QUIET ERROR_VARIABLE errors RESULT_VARIABLE status)
  string(REGEX REPLACE "[ \n]+" " " errors "${errors}")
  if(status EQUAL 0 OR NOT errors MATCHES "${reason}")
    message(FATAL_ERROR "${project}: status ${status}, and no \"${reason}\" in: ${errors}")
  endif()
endfunction()

# Builds the stranger's program by a compiler command, with pkg-config's flags for the installation in a prefix.
function(try_with_pkg_config prefix program)
  if(NOT PKG_CONFIG)
    message(FATAL_ERROR "pkg-config is not here; tools/setup installs it")
  endif()
  file(GLOB_RECURSE files ${prefix}/*/custodian.pc)
  cmake_path(GET files PARENT_PATH directory)
  file(GLOB files ${directory}/custodian*.pc)
  foreach(file IN LISTS files)
    file(STRINGS ${file} targets REGEX "::")
    if(targets)
      message(FATAL_ERROR "${file} names targets of CMake: ${targets}")
    endif()
  endforeach()
  set(pkg_config ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${directory} ${PKG_CONFIG})

  output_of(flags ${pkg_config} --cflags --libs custodian-recipes custodian-testing)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${CXX_COMPILER} -std=c++20 ${stranger}/main.cpp -o ${program} ${flags})
  if(EXISTS ${directory}/custodian-discovery.pc)
    output_of(flags ${pkg_config} --cflags --libs custodian-discovery)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    run(${CXX_COMPILER} -std=c++20 ${stranger}/discovery.cpp -o ${program}_discovery ${flags})
    output_of(libraries ${pkg_config} --variable=libdir custodian-discovery)
    run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${program}_discovery)
  endif()
  if(EXISTS ${directory}/custodian-prometheus.pc)
    output_of(flags ${pkg_config} --cflags --libs custodian-prometheus)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    run(${CXX_COMPILER} -std=c++20 ${stranger}/metrics.cpp -o ${program}_metrics ${flags})
    output_of(libraries ${pkg_config} --variable=libdir custodian-prometheus)
    run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${program}_metrics)
  endif()

  # The library is neither in a system directory nor where it was to be installed.
  output_of(libraries ${pkg_config} --variable=libdir custodian)
  output_of(guardian ${pkg_config} --variable=guardian custodian-testing)
  run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} CUSTODIAN_TESTING_GUARDIAN=${guardian} ${program})
endfunction()
