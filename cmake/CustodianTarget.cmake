# custodian_target(<target>): the standard, the warnings and the sanitizers of our own targets.
# Nothing here is public: a program that links us keeps its own flags.

if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CUSTODIAN_CCACHE ccache)
  mark_as_advanced(CUSTODIAN_CCACHE)
  if(CUSTODIAN_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CUSTODIAN_CCACHE})
  endif()
endif()

function(custodian_target target)
  # Public, because the public headers use C++20; extensions are nobody's business but ours.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_compile_features(${target} PRIVATE cxx_std_20)
  else()
    target_compile_features(${target} PUBLIC cxx_std_20)
  endif()
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)

  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    # Not -Wnon-virtual-dtor: -Wall's -Wdelete-non-virtual-dtor says where it matters.
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wpedantic -Wshadow -Wold-style-cast -Wconversion)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Where it inlines one of the two but not the other, g++ finds that Asio's coroutine frames are
      # not deleted as they were allocated. AddressSanitizer checks it in earnest.
      target_compile_options(${target} PRIVATE -Wno-mismatched-new-delete)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
      # GCC bug 105651: false alarms on the concatenation of strings.
      target_compile_options(${target} PRIVATE -Wno-restrict)
    endif()
    if(CUSTODIAN_WARNINGS_AS_ERRORS)
      target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(CUSTODIAN_SANITIZE)
      target_compile_options(${target} PRIVATE -fsanitize=${CUSTODIAN_SANITIZE} -fno-omit-frame-pointer)
      target_link_options(${target} PUBLIC -fsanitize=${CUSTODIAN_SANITIZE})
    endif()
    if(CUSTODIAN_SANITIZE MATCHES "undefined")
      # A finding must fail the test, not scroll by. What would be asked before every use of a pointer is not: it
      # takes a third of the time to compile, and of null, freed and foreign memory AddressSanitizer knows, too.
      target_compile_options(${target} PRIVATE -fno-sanitize-recover=all -fno-sanitize=null,alignment,vptr)
    endif()
    if(CUSTODIAN_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # g++ sees ghosts through its own instrumentation, in the standard library's <regex> for one.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
    if(CUSTODIAN_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Asio's fences: ThreadSanitizer does not model them, and g++ says so in every file.
      target_compile_options(${target} PRIVATE -Wno-tsan)
    endif()
  endif()
endfunction()

# custodian_join(<target> [<n>]): up to n of its source files (8) are compiled at once, for most of the time of a file is
# that of the headers, which they have in common. Their names must not meet, and what such a file includes, those after it see.
# A source file with SKIP_UNITY_BUILD_INCLUSION stays by itself, and so does a generated one.
# CMake's own way, UNITY_BUILD, writes into the build's folder, where another build's compiler cache does not find it.
function(custodian_join target)
  set(size 8)
  if(ARGC GREATER 1)
    set(size ${ARGV1})
  endif()
  # At the end of the folder, when the target has all its sources.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _custodian_join_sources ${target} ${size})")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ takes a joined file for a header, in which a lambda would be another one in each file.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # A function's variable may be called as another file's, which clang takes for its shadow.
    target_compile_options(${target} PRIVATE -Wno-shadow)
  endif()
endfunction()

function(_custodian_join_sources target size)
  get_target_property(sources ${target} SOURCES)
  set(by_themselves)
  set(joinable)
  foreach(source IN LISTS sources)
    get_property(skip SOURCE ${source} PROPERTY SKIP_UNITY_BUILD_INCLUSION)
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} generated)
    if(skip OR generated OR NOT source MATCHES "[.]cpp$")
      list(APPEND by_themselves ${source})
    else()
      list(APPEND joinable ${source})
    endif()
  endforeach()
  set(joined)
  while(joinable)
    list(SUBLIST joinable 0 ${size} batch)
    list(REMOVE_ITEM joinable ${batch})
    list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n")
    list(JOIN batch "" content)
    # Builds with other options may have other files to join.
    string(SHA1 hash "${content}")
    string(SUBSTRING ${hash} 0 8 hash)
    list(LENGTH joined number)
    set(file ${CUSTODIAN_JOINED_FOLDER}/${target}_${number}_${hash}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${content}" @ONLY)
    list(APPEND joined ${file})
  endwhile()
  set_property(TARGET ${target} PROPERTY SOURCES ${by_themselves} ${joined})
endfunction()

# custodian_headers(<target> <directory>): all headers in the directory are the target's public ones. They are installed,
# and with CMAKE_VERIFY_INTERFACE_HEADER_SETS the target all_verify_interface_header_sets compiles each by itself.
function(custodian_headers target directory)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${directory}/*.hpp)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${directory} FILES ${headers})
endfunction()

# custodian_library(<target>): a library for programs, static or shared as BUILD_SHARED_LIBS says. Both are made of the
# same objects: position-independent, and with everything hidden but what has CUSTODIAN_EXPORT, which the linker of a
# program does not mind. So a compiler cache that has seen one build knows the other.
function(custodian_library target)
  custodian_target(${target})
  if(CUSTODIAN_JOINED_LIBRARIES)
    custodian_join(${target})
  endif()
  # Before 1.0 a minor version may change anything.
  if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  else()
    set(soversion ${PROJECT_VERSION_MAJOR})
  endif()
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${soversion}
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    DEFINE_SYMBOL "")
  # A shared library shows nothing of a static one that went into it, such as the C client,
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
  # and names all that it needs; but not the run-time library of sanitizers, which is the program's.
  if(NOT CUSTODIAN_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()
