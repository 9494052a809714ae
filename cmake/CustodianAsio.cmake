# custodian::asio: the Boost headers and threads, in one of two forms.
#
# Header-only (the default): what a user's program most likely has, and the only safe form beside
# code that we do not compile. Asio's error categories are local statics of its functions; a program
# that holds them both inline and compiled can see two of each, and `ec == asio::error::eof` fails.
# The compiled form also asks for a source file of the user's own as soon as asio::ssl is used.
#
# Compiled once (CUSTODIAN_SEPARATE_ASIO): a third less time a file. For builds where every file is ours,
# which is why the presets for development have it, and `release`, the one that is installed, has not.
# Such a build also does without Asio's deprecated names, so that we come to use none.

if(CUSTODIAN_SEPARATE_ASIO)
  add_library(custodian_asio STATIC ${CMAKE_CURRENT_LIST_DIR}/asio.cpp)
  if(CUSTODIAN_HAS_TLS)
    target_sources(custodian_asio PRIVATE ${CMAKE_CURRENT_LIST_DIR}/asio_ssl.cpp)
    target_link_libraries(custodian_asio PRIVATE OpenSSL::SSL)
  endif()
  custodian_target(custodian_asio)
  target_link_libraries(custodian_asio PUBLIC Boost::headers Threads::Threads)
  target_compile_definitions(custodian_asio PUBLIC BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
else()
  add_library(custodian_asio INTERFACE)
  target_link_libraries(custodian_asio INTERFACE Boost::headers Threads::Threads)
endif()
add_library(custodian::asio ALIAS custodian_asio)
set_target_properties(custodian_asio PROPERTIES EXPORT_NAME asio)
