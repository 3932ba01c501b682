# Writes HEADER, which defines DRAGOMAN_COMMIT: the commit of the repository at SOURCE, with "-dirty" behind it if files
# differ from it, or "unknown" outside a repository. A header that says the same already is left as it is.
find_package(Git QUIET)
set(commit unknown)
if(GIT_EXECUTABLE AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(found)
    set(commit ${found})
  endif()
endif()
set(text "#pragma once\n#define DRAGOMAN_COMMIT \"${commit}\"\n")
set(written "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} written)
endif()
if(NOT written STREQUAL text)
  file(WRITE ${HEADER} "${text}")
endif()
