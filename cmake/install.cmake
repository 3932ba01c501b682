# cmake --install: the program, the static libraries, their headers under include/dragoman/<folder>/, and a CMake
# package. `find_package(dragoman)` gives dragoman::dragoman (everything) and dragoman::<folder>. The headers include each
# other as "dragoman/<folder>/...", as users do.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(dragoman_all INTERFACE)
add_library(dragoman::dragoman ALIAS dragoman_all)
set_target_properties(dragoman_all PROPERTIES EXPORT_NAME dragoman)
set(dragoman_targets dragoman_all)
foreach(folder base tensor kernels autograd ops nn models data evaluation report distributed decoding training benchmark interop serving)
  target_link_libraries(dragoman_all INTERFACE dragoman_${folder})
  list(APPEND dragoman_targets dragoman_${folder})
  list(APPEND dragoman_folders ${folder})
endforeach()

set(dragoman_headers ${CMAKE_BINARY_DIR}/include/dragoman)
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DSOURCE=${PROJECT_SOURCE_DIR}/src\"
  \"-DDESTINATION=${dragoman_headers}\" \"-DFOLDERS=${dragoman_folders}\"
  -P \"${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake\" COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${dragoman_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(dragoman_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dragoman)
install(TARGETS dragoman)
install(TARGETS ${dragoman_targets} EXPORT dragoman_targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT dragoman_targets NAMESPACE dragoman:: FILE dragoman-targets.cmake DESTINATION ${dragoman_package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/dragoman-config.cmake.in
  ${CMAKE_BINARY_DIR}/dragoman-config.cmake INSTALL_DESTINATION ${dragoman_package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/dragoman-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/dragoman-config.cmake ${CMAKE_BINARY_DIR}/dragoman-config-version.cmake
  DESTINATION ${dragoman_package_dir})
