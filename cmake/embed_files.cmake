# Writes a .cpp that holds files as bytes: cmake -DOUTPUT=x.cpp -DFILES="a.html|b.js" -P embed_files.cmake
# It defines dragoman::serving::embedded_files(), declared in src/serving/page_assets.h.
string(REPLACE "|" ";" FILES "${FILES}")
set(arrays "")
set(rows "")
set(index 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND arrays "constexpr char kFile${index}[] = {${bytes}'\\0'};\n")
  string(APPEND rows "    {\"${name}\", {kFile${index}, sizeof(kFile${index}) - 1}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT}.new "// Made by cmake/embed_files.cmake from src/serving/page/.
#include \"serving/page_assets.h\"

namespace dragoman::serving {
namespace {

${arrays}
constexpr EmbeddedFile kFiles[] = {
${rows}};

}  // namespace

std::span<const EmbeddedFile> embedded_files() {
  return kFiles;
}

}  // namespace dragoman::serving
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
