# Run by CPack on the folder of each component before packages are made: what Debian's policy asks for beside the files
# of cmake/install.cmake. Pages and changelog are compressed, each package has its copyright.
function(compress file)
  execute_process(COMMAND gzip -9 -n -f ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The date of SOURCE_DATE_EPOCH, so that packages can be made again to the same bytes, or today.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(debian_changelog "dragoman (${CPACK_DRAGOMAN_VERSION}) unstable; urgency=medium

  * Release of dragoman; see changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")

foreach(pair program=dragoman library=libdragoman0 development=libdragoman-dev python=python3-dragoman)
  string(REGEX MATCH "^(.+)=(.+)$" parts ${pair})
  set(folder ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${CMAKE_MATCH_1})
  if(NOT EXISTS ${folder})
    continue()
  endif()
  set(documents ${folder}/usr/share/doc/${CMAKE_MATCH_2})
  file(MAKE_DIRECTORY ${documents})
  configure_file(${CPACK_DRAGOMAN_SOURCE}/packaging/debian/copyright ${documents}/copyright COPYONLY)
  configure_file(${CPACK_DRAGOMAN_SOURCE}/CHANGELOG.md ${documents}/changelog COPYONLY)
  compress(${documents}/changelog)
  file(WRITE ${documents}/changelog.Debian "${debian_changelog}")
  compress(${documents}/changelog.Debian)
  file(GLOB pages ${folder}/usr/share/man/man1/*.1)
  foreach(page IN LISTS pages)
    compress(${page})
  endforeach()
  if(CMAKE_MATCH_1 STREQUAL development)
    file(COPY ${CPACK_DRAGOMAN_SOURCE}/examples/c DESTINATION ${documents}/examples)
  endif()
endforeach()
