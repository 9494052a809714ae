# A short run of chaos, and its judge: cmake -D CHAOS=<program> -D CHECK=<program> -D DIRECTORY=<directory> -D
# "OPTIONS=<option>;..." -P run.cmake. The files of a failed run stay in the directory.
if(DEFINED ENV{CUSTODIAN_TEST_SERVERS})
  message("skipped: chaos needs a cluster of its own, and CUSTODIAN_TEST_SERVERS names another")
  return()
endif()
file(REMOVE_RECURSE ${DIRECTORY})
execute_process(COMMAND ${CHAOS} ${OPTIONS} --directory ${DIRECTORY} RESULT_VARIABLE chaos)
execute_process(COMMAND ${CHECK} ${DIRECTORY} RESULT_VARIABLE check)
if(NOT chaos EQUAL 0 OR NOT check EQUAL 0)
  message(FATAL_ERROR "chaos: ${chaos}, check: ${check}; the histories are in ${DIRECTORY}")
endif()
file(REMOVE_RECURSE ${DIRECTORY})
