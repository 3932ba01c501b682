#!/bin/sh
# Checks the structure of src/ (docs/architecture.md): who includes whom, and where things are declared.
#   scripts/check_layers.sh [SRC]      SRC: the folder to check, src/ by default
# A folder may include the folders that its row names, and what those may include. Inside a folder the same holds for
# its sub-folders. No circle exists between the stems (x.h, x-inl.h, x_cpu.h, x.cpp) of one folder. A source has a header of its
# own, or is named after the header that declares it: trainer_start.cpp belongs to trainer.h.
# Prints every line that breaks a rule and ends with status 1 if there is any.
set -eu
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
src=${1:-"$(dirname "$0")/../src"}
if [ ! -d "$src" ]; then
  echo "check_layers.sh: $src is not a folder; give the path of src/" >&2
  exit 2
fi

cd "$src"
find . -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.inc' \) | sort |
  awk '
    BEGIN {
      allow["base"] = ""
      allow["tensor"] = "base"
      allow["kernels"] = "tensor"
      allow["autograd"] = "kernels"
      allow["ops"] = "autograd"
      allow["nn"] = "ops"
      allow["models"] = "nn"
      allow["data"] = "tensor"
      allow["evaluation"] = "base"
      allow["report"] = "base"
      allow["distributed"] = "kernels"
      allow["decoding"] = "models data report"
      allow["training"] = "models data decoding distributed evaluation report"
      allow["benchmark"] = "training decoding"
      allow["interop"] = "models data"
      allow["serving"] = "decoding report"
      allow["study"] = "training"
      allow["cli"] = "training benchmark interop serving study"
      allow["c_api"] = "decoding"

      inside["kernels"] = ""
      inside["kernels/cpu/simd"] = "kernels"
      inside["kernels/cpu/rows"] = "kernels/cpu/simd"
      inside["kernels/cpu/gemm"] = "kernels/cpu/simd"
      inside["kernels/cpu/attention"] = "kernels/cpu/gemm"
      inside["kernels/cpu/output"] = "kernels/cpu/gemm"
      inside["kernels/reference"] = "kernels"
      inside["kernels/cpu"] = "kernels/cpu/rows kernels/cpu/attention kernels/cpu/output kernels/reference"
      inside["kernels/backends"] = "kernels/cpu kernels/reference"
      inside["kernels/cuda"] = "kernels/backends"

      inside["models"] = ""
      inside["models/decoder"] = "models"
      inside["models/transformer"] = "models/decoder"
      inside["models/decoder_only"] = "models/decoder"
      inside["models/recurrent"] = "models"
      inside["models/convolutional"] = "models"
      inside["models/encoder_only"] = "models"
      inside["models/architectures"] = "models/transformer models/decoder_only models/encoder_only models/recurrent models/convolutional"

      inside["data/text"] = ""
      inside["data/chat"] = ""
      inside["data/vocabulary"] = "data/text"
      inside["data"] = "data/vocabulary"
      inside["data/sample"] = ""

      inside["decoding/search"] = ""
      inside["decoding/steps"] = "decoding/search"
      inside["decoding"] = "decoding/steps"
      inside["decoding/inspection"] = "decoding"

      inside["serving/http"] = ""
      inside["serving/text"] = ""
      inside["serving/page"] = ""
      inside["serving/inspect"] = ""
      inside["serving/service"] = "serving/http serving/text serving/inspect"
      inside["serving/routes"] = "serving/service serving/page"
      inside["serving"] = "serving/routes"

      for (name in allow) check_row(name, allow, "allow")
      for (name in inside) check_row(name, inside, "inside")
    }

    # Marks in reach[] the row itself and all that it leads to in `table`.
    function spread(row, table,    names, n, i) {
      if (row in reach) return
      reach[row] = 1
      n = split(table[row], names, " ")
      for (i = 1; i <= n; i++) spread(names[i], table)
    }

    # A row of the tables above names rows that exist, none of which leads back to it.
    function check_row(row, table, title,    names, n, i) {
      n = split(table[row], names, " ")
      for (i = 1; i <= n; i++) {
        split("", reach)
        if (!(names[i] in table)) {
          printf "check_layers.sh: row %s of %s names %s, which has no row\n", row, title, names[i]
          errors++
          continue
        }
        spread(names[i], table)
        if (row in reach) {
          printf "check_layers.sh: row %s of %s leads in a circle through %s\n", row, title, names[i]
          errors++
        }
      }
    }

    function complain(line_number, text) {
      printf "%s:%d: %s\n", file, line_number, text
      errors++
    }

    function top_of(path) { sub(/\/.*/, "", path); return path }
    function folder_of(path) { return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/) - 1) : "" }
    function stem_of(path) { sub(/\.[^.\/]*$/, "", path); sub(/-inl$/, "", path); sub(/_cpu$/, "", path); return path }
    function or_nothing(names) { return names == "" ? "nothing" : names }

    function check_include(target, line_number,    from, to) {
      from = folder_of(file)
      to = folder_of(target)
      if (to == "") {
        complain(line_number, "\"" target "\" has no folder; write #include \"folder/" target "\"")
      } else if (!(top_of(to) in allow)) {
        complain(line_number, "\"" target "\" is in no folder of the table in scripts/check_layers.sh")
      } else if (top_of(to) != top_of(from)) {
        split("", reach)
        spread(top_of(from), allow)
        if (!(top_of(to) in reach))
          complain(line_number, top_of(from) " may not include " top_of(to) " (\"" target "\"); " top_of(from) \
                   " builds on: " or_nothing(allow[top_of(from)]))
      } else if (to != from) {
        split("", reach)
        if (from in inside) spread(from, inside)
        if (!(to in reach))
          complain(line_number, from " may not include " to " (\"" target "\"); " from " builds on: " \
                   or_nothing(inside[from]))
      } else if (stem_of(target) != stem_of(file)) {
        arrows[stem_of(file)] = arrows[stem_of(file)] " " stem_of(target)
        arrow_line[stem_of(file), stem_of(target)] = file ":" line_number
      }
    }

    function check_file(    line, line_number, folder) {
      folder = folder_of(file)
      if (!(top_of(folder) in allow)) {
        complain(1, "folder " top_of(folder) " has no row in the table of scripts/check_layers.sh")
        return
      }
      if (folder != top_of(folder) && !(folder in inside))
        complain(1, "sub-folder " folder " has no row in the table of scripts/check_layers.sh")
      if (file ~ /\.h$/) has_header[stem_of(file)] = 1
      if (file ~ /\.cpp$/) sources[file] = 1
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

    # The stem of the header that declares what a source defines; empty if none does.
    function owner_of(source,    stem) {
      stem = stem_of(source)
      while (!(stem in has_header)) {
        if (stem !~ /_[^_\/]*$/) return ""
        sub(/_[^_\/]*$/, "", stem)
      }
      return stem
    }

    # Depth first over the stems of a folder; an arrow to a stem that is still open closes a circle.
    function visit(stem, way,    names, n, i) {
      state[stem] = "open"
      n = split(arrows[stem], names, " ")
      for (i = 1; i <= n; i++) {
        if (state[names[i]] == "open") {
          printf "%s: circle of stems: %s %s\n", arrow_line[stem, names[i]], way, names[i]
          errors++
        } else if (state[names[i]] == "") {
          visit(names[i], way " " names[i])
        }
      }
      state[stem] = "closed"
    }

    {
      file = substr($0, 3)
      files++
      check_file()
    }

    END {
      for (source in sources) {
        if (top_of(source) == "cli") continue  # one command a file, all declared in cli/command.h
        if (top_of(source) == "c_api") continue  # one family of functions a file, all declared in include/dragoman.h
        owner = owner_of(source)
        if (owner == "") {
          printf "%s: has no header; name it after the header that declares it, or give it one\n", source
          errors++
        } else if (owner != stem_of(source)) {  # its includes are those of its owner
          n = split(arrows[stem_of(source)], names, " ")
          for (i = 1; i <= n; i++) {
            if (names[i] != owner) {
              arrows[owner] = arrows[owner] " " names[i]
              arrow_line[owner, names[i]] = arrow_line[stem_of(source), names[i]]
            }
          }
          delete arrows[stem_of(source)]
        }
      }
      for (stem in arrows) stems[++count] = stem
      for (i = 1; i <= count; i++) if (state[stems[i]] == "") visit(stems[i], stems[i])
      printf "layers: %d files, %d includes, %d against the rule\n", files, includes, errors
      exit errors > 0
    }'
