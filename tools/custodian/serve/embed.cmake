# cmake -D FOLDER=<page> -D OUTPUT=<file.cpp> -P embed.cmake: makes a source file of the page's files, byte by byte.
file(GLOB files RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT files)
set(arrays "")
set(rows "")
set(number 0)
foreach(name IN LISTS files)
  file(READ ${FOLDER}/${name} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "// ${name}\nconst unsigned char file_${number}[] = {\n${bytes}0};\n")
  string(APPEND rows "      {\"${name}\", text_of(file_${number}, sizeof file_${number} - 1)},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Made by embed.cmake.
#include \"serve/page_files.hpp\"

#include <cstddef>

namespace custodian::cli {
namespace {

${arrays}
std::string_view text_of(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

const std::vector<PageFile>& page_files() {
  static const std::vector<PageFile> files{
${rows}  };
  return files;
}

}  // namespace custodian::cli
")
