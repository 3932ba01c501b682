# cmake --install, in three components, which cmake/packages.cmake makes Debian packages of:
#   program      the program with its manual, what shells complete by, and a unit of systemd
#   library      libdragoman.so for programs in C (include/dragoman.h)
#   development  dragoman.h, the static libraries with their headers under include/dragoman/<folder>/, a CMake package,
#                files for pkg-config. `find_package(dragoman)` gives dragoman::dragoman (everything), dragoman::<folder>
#                and dragoman::c; `find_package(dragoman COMPONENTS c)` gives dragoman::c alone, which needs nothing else.
# The headers include each other as "dragoman/<folder>/...", as users do.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS dragoman COMPONENT program)
set(dragoman_pages ${PROJECT_BINARY_DIR}/pages)
install(CODE "
  file(MAKE_DIRECTORY \"${dragoman_pages}\")
  execute_process(COMMAND \"$<TARGET_FILE:dragoman>\" man --output \"${dragoman_pages}/man1\" COMMAND_ERROR_IS_FATAL ANY)
  foreach(shell bash zsh fish)
    execute_process(COMMAND \"$<TARGET_FILE:dragoman>\" completion \${shell}
      OUTPUT_FILE \"${dragoman_pages}/\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()" COMPONENT program)
install(DIRECTORY ${dragoman_pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
set(dragoman_shells ${CMAKE_INSTALL_DATADIR})
install(FILES ${dragoman_pages}/bash DESTINATION ${dragoman_shells}/bash-completion/completions RENAME dragoman
  COMPONENT program)
# Debian's zsh looks in vendor-completions, a zsh below /usr/local in site-functions.
set(dragoman_zsh site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(dragoman_zsh vendor-completions)
endif()
install(FILES ${dragoman_pages}/zsh DESTINATION ${dragoman_shells}/zsh/${dragoman_zsh} RENAME _dragoman COMPONENT program)
install(FILES ${dragoman_pages}/fish DESTINATION ${dragoman_shells}/fish/vendor_completions.d RENAME dragoman.fish
  COMPONENT program)
configure_file(${PROJECT_SOURCE_DIR}/packaging/systemd/dragoman-serve.service.in
  ${PROJECT_BINARY_DIR}/dragoman-serve.service @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/dragoman-serve.service DESTINATION lib/systemd/system COMPONENT program)

install(TARGETS dragoman_c EXPORT dragoman_c_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  NAMELINK_COMPONENT development INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(dragoman_headers ${PROJECT_BINARY_DIR}/include/dragoman)
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DSOURCE=${PROJECT_SOURCE_DIR}/src\"
  \"-DDESTINATION=${dragoman_headers}\" \"-DFOLDERS=${dragoman_folders}\"
  -P \"${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT development)
install(DIRECTORY ${dragoman_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/include/dragoman.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(TARGETS ${dragoman_targets} EXPORT dragoman_targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  ARCHIVE COMPONENT development)
set(dragoman_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dragoman)
install(EXPORT dragoman_targets NAMESPACE dragoman:: FILE dragoman-targets.cmake DESTINATION ${dragoman_package_dir}
  COMPONENT development)
install(EXPORT dragoman_c_targets NAMESPACE dragoman:: FILE dragoman-c-targets.cmake DESTINATION ${dragoman_package_dir}
  COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/dragoman-config.cmake.in
  ${PROJECT_BINARY_DIR}/dragoman-config.cmake INSTALL_DESTINATION ${dragoman_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/dragoman-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dragoman-config.cmake ${PROJECT_BINARY_DIR}/dragoman-config-version.cmake
  DESTINATION ${dragoman_package_dir} COMPONENT development)
# For other build systems: `pkg-config --cflags --libs dragoman-c`, and `dragoman` for the C++ libraries.
set(dragoman_link_flags "")
foreach(folder IN LISTS dragoman_folders)
  string(PREPEND dragoman_link_flags "-ldragoman_${folder} ")  # the users of a library stand before it
endforeach()
set(dragoman_pc_requires "fmt libcrypto icu-uc icu-i18n expat zlib liblzma libzstd sentencepiece libhwy")
if(DRAGOMAN_MPI)
  string(APPEND dragoman_pc_requires " ompi-c")
endif()
file(RELATIVE_PATH dragoman_pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name dragoman dragoman-c)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()
