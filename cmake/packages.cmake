# `cpack -G DEB` makes Debian packages of the components of cmake/install.cmake and python/CMakeLists.txt;
# scripts/package.sh calls it and checks them. Needs a build folder that was configured with CMAKE_INSTALL_PREFIX=/usr.
set(DRAGOMAN_MAINTAINER "The dragoman authors <dragoman@users.noreply.github.com>" CACHE STRING
  "Name and address that Debian packages carry")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "${DRAGOMAN_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Transformer models for translation and text")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program library development)
if(DRAGOMAN_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME dragoman)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "The program trains the Transformer and its family on ordinary CPUs, translates
and generates with it, scores the output, answers over HTTP, and shows what a
model computes.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libdragoman0)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The shared library translates, generates and embeds texts with models of
dragoman. Its interface is C99 and keeps its ABI while the soname stays.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libdragoman-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libdragoman0 (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
# What the C++ libraries need; dragoman.h needs none of it.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "libboost-dev, libcld2-dev, libexpat1-dev, libfmt-dev, libhwy-dev, \
libicu-dev, liblzma-dev, libsentencepiece-dev, libssl-dev, libzstd-dev, nlohmann-json3-dev, zlib1g-dev")
if(DRAGOMAN_MPI)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS ", libopenmpi-dev")
endif()
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Development files: the header dragoman.h for C, and the static libraries of
dragoman with their headers for C++20.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-dragoman)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.11), python3 (<< 3.12), python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS dragoman)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/debian/python/postinst"
  "${PROJECT_SOURCE_DIR}/packaging/debian/python/prerm")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "The Python package trains, translates, generates and embeds with models of
dragoman, and has its tensors and layers.")

# Debian's documents, compressed pages.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_documents.cmake)
set(CPACK_DRAGOMAN_VERSION ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(CPACK_DRAGOMAN_SOURCE ${PROJECT_SOURCE_DIR})
include(CPack)
