# Each public header compiles by itself. The headers are only parsed, without the definitions of Asio's functions: these
# are not theirs, and would take half of the time.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

set(folder ${WORK_DIR}/headers)
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${folder} -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0
  -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${CXX_LAUNCHER}
  -DCMAKE_VERIFY_INTERFACE_HEADER_SETS=ON
  -DCUSTODIAN_SEPARATE_ASIO=ON -DCUSTODIAN_WARNINGS_AS_ERRORS=ON -DCUSTODIAN_BUILD_DISCOVERY=${DISCOVERY}
  -DCUSTODIAN_BUILD_PROMETHEUS=${PROMETHEUS}
  -DCUSTODIAN_BUILD_TESTS=OFF -DCUSTODIAN_BUILD_EXAMPLES=OFF -DCUSTODIAN_BUILD_TOOLS=OFF -DCUSTODIAN_BUILD_BENCH=OFF)
run(${CMAKE_COMMAND} --build ${folder} --parallel 2 --target all_verify_interface_header_sets)
