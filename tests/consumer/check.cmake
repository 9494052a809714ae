# Builds and runs the consumer as its user would. Arguments (-D): MODE (package or subdirectory), BUILD_DIR (Custodian's),
# SOURCE_DIR (Custodian's), WORK_DIR, and of Custodian's build CXX_COMPILER, CXX_LAUNCHER, BUILD_TYPE, GENERATOR, OPTIONS.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
if(MODE STREQUAL "package")
  run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/installed)
  # Packages are built in one place and unpacked in another: nothing may remember the first.
  file(RENAME ${WORK_DIR}/installed ${WORK_DIR}/moved)
  set(how -DCMAKE_PREFIX_PATH=${WORK_DIR}/moved)
else()
  # With the options of the build around this test, so that the compiler cache knows every file already.
  set(how -DCUSTODIAN_AS_SUBDIRECTORY=${SOURCE_DIR} ${OPTIONS})
endif()

run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/consumer -B ${WORK_DIR}/build -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
  -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${CXX_LAUNCHER}
  ${how})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --parallel 2)
run(${WORK_DIR}/build/consumer)
