#!/bin/sh
# Checks that each folder of src/ includes only the folders it may build on (docs/architecture.md).
#   scripts/check_layers.sh [SRC]      SRC: the folder to check, src/ by default
# A folder may include the ones its row names, and what those may include. Prints every line that breaks the rule
# and ends with status 1 if there is any.
set -eu
src=${1:-"$(dirname "$0")/../src"}
if [ ! -d "$src" ]; then
  echo "check_layers.sh: $src is not a folder; give the path of src/" >&2
  exit 2
fi

cd "$src"
find . -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.inc' \) | LC_ALL=C sort |
  awk '
    BEGIN {
      allow["base"] = ""
      allow["tensor"] = "base"
      allow["autograd"] = "tensor"
      allow["ops"] = "autograd"
      allow["nn"] = "ops"
      allow["models"] = "nn"
      allow["data"] = "tensor"
      allow["evaluation"] = "base"
      allow["distributed"] = "tensor"
      allow["decoding"] = "models data"
      allow["training"] = "models data decoding distributed evaluation"
      allow["interop"] = "models data"
      allow["serving"] = "decoding"
      allow["cli"] = "training interop serving"
    }

    # Marks in reach[] the folder itself and all that its row leads to.
    function spread(folder,    names, n, i) {
      if (folder in reach) return
      reach[folder] = 1
      n = split(allow[folder], names, " ")
      for (i = 1; i <= n; i++) spread(names[i])
    }

    function complain(line_number, text) {
      printf "%s:%d: %s\n", file, line_number, text
      errors++
    }

    function check_include(target, line_number,    parts) {
      if (split(target, parts, "/") < 2)
        complain(line_number, "\"" target "\" has no folder; write #include \"folder/" target "\"")
      else if (!(parts[1] in allow))
        complain(line_number, "\"" target "\" is in no folder of the table in scripts/check_layers.sh")
      else if (!(parts[1] in reach))
        complain(line_number, folder " may not include " parts[1] " (\"" target "\"); " folder " builds on: " \
                 (allow[folder] == "" ? "nothing" : allow[folder]))
    }

    function check_file(    line, line_number, path) {
      split(file, path, "/")
      folder = path[1]
      if (!(folder in allow)) {
        complain(1, "folder " folder " has no row in the table of scripts/check_layers.sh")
        return
      }
      split("", reach)
      spread(folder)
      while ((getline line < file) > 0) {
        line_number++
        if (line ~ /^[ \t]*#[ \t]*include[ \t]*"/) {
          includes++
          sub(/^[^"]*"/, "", line)
          sub(/".*$/, "", line)
          check_include(line, line_number)
        }
      }
      close(file)
    }

    {
      file = substr($0, 3)
      files++
      check_file()
    }

    END {
      printf "layers: %d files, %d includes, %d against the rule\n", files, includes, errors
      exit errors > 0
    }'
