# cmake --install: the program with its manual and what shells complete by, the static libraries, their headers under
# include/dragoman/<folder>/, a CMake package and a file for pkg-config. `find_package(dragoman)` gives dragoman::dragoman (everything) and dragoman::<folder>. The headers
# include each other as "dragoman/<folder>/...", as users do.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(dragoman_headers ${PROJECT_BINARY_DIR}/include/dragoman)
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DSOURCE=${PROJECT_SOURCE_DIR}/src\"
  \"-DDESTINATION=${dragoman_headers}\" \"-DFOLDERS=${dragoman_folders}\"
  -P \"${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake\" COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${dragoman_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(dragoman_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dragoman)
install(TARGETS dragoman)
set(dragoman_pages ${PROJECT_BINARY_DIR}/pages)
install(CODE "
  file(MAKE_DIRECTORY \"${dragoman_pages}\")
  execute_process(COMMAND \"$<TARGET_FILE:dragoman>\" man --output \"${dragoman_pages}/man1\" COMMAND_ERROR_IS_FATAL ANY)
  foreach(shell bash zsh fish)
    execute_process(COMMAND \"$<TARGET_FILE:dragoman>\" completion \${shell}
      OUTPUT_FILE \"${dragoman_pages}/\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")
install(DIRECTORY ${dragoman_pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${dragoman_pages}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME dragoman)
install(FILES ${dragoman_pages}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _dragoman)
install(FILES ${dragoman_pages}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME dragoman.fish)
install(TARGETS ${dragoman_targets} EXPORT dragoman_targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT dragoman_targets NAMESPACE dragoman:: FILE dragoman-targets.cmake DESTINATION ${dragoman_package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/dragoman-config.cmake.in
  ${PROJECT_BINARY_DIR}/dragoman-config.cmake INSTALL_DESTINATION ${dragoman_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/dragoman-config-version.cmake COMPATIBILITY SameMinorVersion)
# For other build systems: `pkg-config --cflags --libs dragoman`.
set(dragoman_link_flags "")
foreach(folder IN LISTS dragoman_folders)
  string(PREPEND dragoman_link_flags "-ldragoman_${folder} ")  # the users of a library stand before it
endforeach()
set(dragoman_pc_requires "fmt libcrypto icu-uc icu-i18n expat zlib liblzma libzstd sentencepiece libhwy")
if(DRAGOMAN_MPI)
  string(APPEND dragoman_pc_requires " ompi-c")
endif()
file(RELATIVE_PATH dragoman_pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/dragoman.pc.in ${PROJECT_BINARY_DIR}/dragoman.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/dragoman.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_BINARY_DIR}/dragoman-config.cmake ${PROJECT_BINARY_DIR}/dragoman-config-version.cmake
  DESTINATION ${dragoman_package_dir})
