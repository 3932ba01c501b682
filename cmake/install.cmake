# cmake --install: headers, static libraries, the program and a CMake package (filled by the folders' targets).
