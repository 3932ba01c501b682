#!/bin/sh
# Checks that the body of every if, else, for and while of C++ code is in braces, on one line or many.
#   scripts/check_braces.sh [FOLDER ...]      folders to check; src, tests, benchmarks and examples by default
# Expects code that scripts/format.sh has formatted: a control statement begins its line.
# Prints every line that breaks the rule and ends with status 1 if there is any.
set -eu
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
if [ $# -eq 0 ]; then
  cd "$(dirname "$0")/.."
  set -- src tests benchmarks examples
fi
for folder in "$@"; do
  if [ ! -d "$folder" ]; then
    echo "check_braces.sh: $folder is not a folder; give the path of a folder with C++ files" >&2
    exit 2
  fi
done

find "$@" -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.inc' \) | sort |
  awk '
    # The line without the text of literals and comments; raw_end is set while a raw string goes on.
    function code_of(line,    place, rest) {
      if (raw_end != "") {
        place = index(line, raw_end)
        if (place == 0) return ""
        line = substr(line, place + length(raw_end))
        raw_end = ""
      }
      if (match(line, /R"[^(]*\(/)) {
        rest = substr(line, RSTART + RLENGTH)
        raw_end = ")" substr(line, RSTART + 2, RLENGTH - 3) "\""
        line = substr(line, 1, RSTART - 1) "x"
        place = index(rest, raw_end)
        if (place == 0) return line
        line = line substr(rest, place + length(raw_end))
        raw_end = ""
      }
      gsub(/"([^"\\]|\\.)*"/, "x", line)
      gsub(/\x27([^\x27\\]|\\.)\x27/, "x", line)
      sub(/\/\/.*$/, "", line)
      sub(/[ \t]+$/, "", line)
      return line
    }

    # Adds the parentheses of `code` to depth; returns what follows the one that closes the condition.
    function after_condition(code,    i, c) {
      for (i = 1; i <= length(code); i++) {
        c = substr(code, i, 1)
        if (c == "(") depth++
        if (c == ")" && --depth == 0) return substr(code, i + 1)
      }
      return ""
    }

    function check_body(rest) {
      sub(/^ *\[\[[a-z]*\]\]/, "", rest)
      if (rest !~ /^ *\{/ && !(keyword == "while" && rest ~ /^ *;/)) {
        printf "%s:%d: the body of %s needs braces\n", file, start, keyword
        bad = 1
      }
    }

    # All of `code`, the start of a control statement or a further line of its condition.
    function follow(code,    rest) {
      rest = after_condition(code)
      if (depth > 0) return
      inside = 0
      check_body(rest)
    }

    function check_line(code) {
      if (code ~ /^ *#/ || code ~ /\\$/) return
      if (inside) { follow(code); return }
      sub(/^ *(\} )?/, "", code)
      start = number
      if (code ~ /^else( |$)/ && code !~ /^else if /) {
        keyword = "else"
        check_body(substr(code, 5))
        return
      }
      sub(/^else /, "", code)
      if (code !~ /^(if|for|while) (constexpr )?\(/) return
      keyword = substr(code, 1, index(code, " ") - 1)
      inside = 1
      depth = 0
      follow(code)
    }

    {
      file = $0
      number = 0
      raw_end = ""
      inside = 0
      while ((got = (getline line < file)) > 0) {
        number++
        check_line(code_of(line))
      }
      if (got < 0) { print "check_braces.sh: cannot read " file > "/dev/stderr"; bad = 1 }
      close(file)
    }
    END { exit bad }
  ' || exit 1
echo "braces: every body of if, else, for and while is in braces"
