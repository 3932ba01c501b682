# Writes a .cpp that holds the files of the web page: cmake -DOUTPUT=x.cpp -DFILES="a.html|b.js" -P embed_files.cmake
# It defines dragoman::serving::page_files(), declared in src/serving/page/page_files.h.
set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_svg "image/svg+xml")
set(type_md "text/plain; charset=utf-8")
string(REPLACE "|" ";" FILES "${FILES}")
set(arrays "")
set(rows "")
set(index 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  string(REGEX REPLACE ".*\\." "" extension ${name})
  set(path "/assets/${name}")
  if(name STREQUAL "index.html")
    set(path "/")
  elseif(extension STREQUAL "md")
    string(REGEX REPLACE "^.*/docs/" "/docs/" path ${file})
  endif()
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND arrays "constexpr char kFile${index}[] = {${bytes}'\\0'};\n")
  string(APPEND rows "    {\"${path}\", \"${type_${extension}}\", {kFile${index}, sizeof(kFile${index}) - 1}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT}.new "// Made by cmake/embed_files.cmake from src/serving/page/.
#include \"serving/page/page_files.h\"

namespace dragoman::serving {
namespace {

${arrays}
constexpr Asset kFiles[] = {
${rows}};

}  // namespace

std::span<const Asset> page_files() {
  return kFiles;
}

}  // namespace dragoman::serving
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
