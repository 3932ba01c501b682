# Writes a copy of the headers of some folders of src/ that include each other as "dragoman/<folder>/...". A user of the
# package then needs include/ alone on the include path.
#   cmake -DSOURCE=src -DDESTINATION=include/dragoman "-DFOLDERS=base;tensor" -P install_headers.cmake
# Headers `*-inl.h` are for the sources of kernels alone, and may need what a user does not have; they are left out.
file(REMOVE_RECURSE ${DESTINATION})
list(JOIN FOLDERS "|" names)
foreach(folder IN LISTS FOLDERS)
  file(GLOB_RECURSE headers RELATIVE ${SOURCE} ${SOURCE}/${folder}/*.h)
  list(FILTER headers EXCLUDE REGEX "-inl\\.h$")
  foreach(header IN LISTS headers)
    file(READ ${SOURCE}/${header} text)
    string(REGEX REPLACE "#include \"((${names})/[^\"]+)\"" "#include \"dragoman/\\1\"" text "${text}")
    file(WRITE ${DESTINATION}/${header} "${text}")
  endforeach()
endforeach()
