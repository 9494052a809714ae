# Real clients of other kinds, which tests and the benchmark compare ours with. What is not installed is left out:
# CUSTODIAN_JAVA, CUSTODIAN_JAVAC, CUSTODIAN_CURATOR_JAR (Apache Curator),
# CUSTODIAN_CURATOR_DISCOVERY_JAR (its service discovery) and CUSTODIAN_KAZOO_PYTHON are then false.

find_program(CUSTODIAN_JAVA java)
find_program(CUSTODIAN_JAVAC javac)
find_file(CUSTODIAN_CURATOR_JAR curator-recipes.jar PATHS /usr/share/java NO_DEFAULT_PATH)
find_file(CUSTODIAN_CURATOR_DISCOVERY_JAR curator-x-discovery.jar PATHS /usr/share/java NO_DEFAULT_PATH)
mark_as_advanced(CUSTODIAN_JAVA CUSTODIAN_JAVAC CUSTODIAN_CURATOR_JAR CUSTODIAN_CURATOR_DISCOVERY_JAR)

# custodian_curator_program(<target> <variable> <file>...): the target compiles these Java files; the first has the name
# of the program's class. The variable is set to the classpath; to nothing, and there is no target, without Curator.
function(custodian_curator_program target variable)
  set(${variable} "" PARENT_SCOPE)
  if(NOT (CUSTODIAN_JAVA AND CUSTODIAN_JAVAC AND CUSTODIAN_CURATOR_JAR))
    return()
  endif()
  cmake_path(GET CUSTODIAN_CURATOR_JAR PARENT_PATH jars)
  set(classes ${CMAKE_CURRENT_BINARY_DIR}/java)
  set(curator ${CUSTODIAN_CURATOR_JAR})
  if(CUSTODIAN_CURATOR_DISCOVERY_JAR)
    string(APPEND curator ":${CUSTODIAN_CURATOR_DISCOVERY_JAR}")
  endif()
  list(GET ARGN 0 main)
  cmake_path(GET main STEM main)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  add_custom_command(OUTPUT ${classes}/${main}.class
    COMMAND ${CUSTODIAN_JAVAC} --release 11 -d ${classes} -cp ${curator} ${ARGN}
    DEPENDS ${ARGN}
    COMMENT "Compiling ${main}, a client of Apache Curator's"
    VERBATIM)
  add_custom_target(${target} DEPENDS ${classes}/${main}.class)
  # The jars name what they depend on themselves, but for a logger, and for what Netty needs for TLS.
  set(path "${classes}:${curator}:${jars}/slf4j-simple.jar")
  foreach(jar IN ITEMS netty-codec netty-resolver netty-transport-native-unix-common)
    string(APPEND path ":${jars}/${jar}.jar")
  endforeach()
  set(${variable} "${path}" PARENT_SCOPE)
endfunction()

# The first Python that has kazoo.
function(custodian_has_kazoo result candidate)
  execute_process(COMMAND ${candidate} -c "import kazoo" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(NOT status EQUAL 0)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()
find_program(CUSTODIAN_KAZOO_PYTHON python3 PATHS /usr/bin VALIDATOR custodian_has_kazoo)
mark_as_advanced(CUSTODIAN_KAZOO_PYTHON)
set(CUSTODIAN_KAZOO "")
if(CUSTODIAN_KAZOO_PYTHON)
  set(CUSTODIAN_KAZOO "${CUSTODIAN_KAZOO_PYTHON}")
endif()
