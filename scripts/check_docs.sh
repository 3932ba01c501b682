#!/bin/bash
# Checks that what the *.md files name exists.
#   scripts/check_docs.sh [PROGRAM [ROOT]]      PROGRAM: the built program, build/dragoman by default; ROOT: the repository
#   1. Relative links lead to a file or folder.
#   2. Paths in `backticks` (with a slash, or ending like a source file) exist, from ROOT, from ROOT/src or beside the
#      page. `src/ops/softmax` stands for its .h; a * stands for at least one file. Paths that begin with a word in
#      capitals (DIR/...) or with one of $made_at_run_time are not looked for.
#   3. Commands `dragoman X --flag` and `scripts/x.sh --flag`, in `backticks` and in code blocks, are known: to --help of
#      the program, or in the text of the script.
#   4. Every line of a code block marked cpp or cmake stands in a source or CMakeLists.txt, spaces aside; "..." is
#      left out.
#   5. Links with #anchor to a page, or within it, lead to a heading as GitHub names it, or to <a id="anchor">.
#   6. Where a page says `name` in `path`, or in Chinese `name`（`path`）, the file has the name as a word. `Suite.Name`
#      of a file in tests/ is a test of GoogleTest there. Several names: `a`, `b` and `c` in `path`.
#   7. Every formula with \tag{X} has a row | (X) | in a table of its page, which names a test.
# Prints page, line and what is missing; status 1 if anything is, 2 for wrong use.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
program=$(realpath -m "${1:-"$(dirname "$0")/../build/dragoman"}")
cd "${2:-"$(dirname "$0")/.."}"
made_at_run_time="build build-gpu build-examples build-sanitize build-thread build-aarch64 quickstart multi30k my-model checkpoints"
missing=0
links=0
names=0
formulas=0
paths=0
commands=0
quoted=0

if [ ! -x "$program" ]; then
  echo "check_docs.sh: $program is not there; build it, or name the program as first argument" >&2
  exit 2
fi
known_commands=" $("$program" --help | sed -n 's/^  \([a-z][a-z-]*\)   *[^ ].*/\1/p' | tr '\n' ' ')"
declare -A help anchors

complain() {  # PLACE TEXT
  echo "$1: $2"
  missing=$((missing + 1))
}

# Every code span and every line of a code block of a page, as LINE<tab>TEXT; lines continued with \ are joined.
code_of() {
  awk '
    /^[ \t]*```/ { in_block = !in_block; held = ""; next }
    in_block {
      if (held == "") first = FNR
      if (sub(/\\$/, "")) { held = held $0; next }
      print first "\t" held $0
      held = ""
      next
    }
    {
      n = split($0, part, "`")
      for (i = 2; i < n; i += 2) print FNR "\t`" part[i]
    }' "$1"
}

# The anchors of a page between blanks: slugs of its headings as GitHub makes them, and ids that the page gives.
anchors_of() {  # PAGE
  if [ -z "${anchors[$1]:-}" ]; then
    anchors[$1]=" $(awk '
      /^[ \t]*```/ { in_block = !in_block; next }
      in_block { next }
      {
        rest = $0
        while (match(rest, /<a (id|name)="[^"]*"/)) {
          id = substr(rest, RSTART, RLENGTH)
          sub(/^[^"]*"/, "", id)
          sub(/"$/, "", id)
          print id
          rest = substr(rest, RSTART + RLENGTH)
        }
      }
      /^#+ / {
        sub(/^#+ +/, "")
        while (match($0, /\]\([^)]*\)/)) $0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
        slug = tolower($0)
        gsub(/[]!-,.\/:-@[\\^`{-~]/, "", slug)
        gsub(/ /, "-", slug)
        print (seen[slug]++ ? slug "-" seen[slug] - 1 : slug)
      }' "$1" | tr '\n' ' ')"
  fi
}

check_links() {  # PAGE
  local line target file
  while IFS=$'\t' read -r line target; do
    links=$((links + 1))
    file="${target%%#*}"
    file="${file:+$(dirname "$1")/$file}"
    file="${file:-$1}"
    if [ ! -e "$file" ]; then
      complain "$1:$line" "link to $target, which does not exist"
    elif [[ "$target" == *#* && "$file" == *.md ]]; then
      anchors_of "$file"
      [[ "${anchors[$file]}" == *" ${target#*#} "* ]] || complain "$1:$line" "link to $target: the page has no such heading"
    fi
  done < <(awk '
    /^[ \t]*```/ { in_block = !in_block; next }
    !in_block {
      rest = $0
      while (match(rest, /\]\([^)]*\)/)) {
        target = substr(rest, RSTART + 2, RLENGTH - 3)
        if (target !~ /^[a-z]+:/) print FNR "\t" target
        rest = substr(rest, RSTART + RLENGTH)
      }
    }' "$1")
}

check_path() {  # PAGE LINE PATH
  local base first="${3%%/*}"
  if [[ "$first" =~ ^[A-Z][A-Z]+$ && ! -e "$first" ]] || [[ " $made_at_run_time " == *" $first "* ]]; then
    return
  fi
  paths=$((paths + 1))
  for base in . src "$(dirname "$1")"; do
    if [ -e "$base/$3" ] || [ -e "$base/$3.h" ] || compgen -G "$base/$3" >/dev/null; then
      return
    fi
  done
  complain "$1:$2" "\`$3\` does not exist"
}

check_program() {  # PAGE LINE COMMAND ARGUMENT...
  local place="$1:$2" command="$3" word
  shift 3
  commands=$((commands + 1))
  if [[ "$known_commands" != *" $command "* ]]; then
    complain "$place" "dragoman has no command $command"
    return
  fi
  [ -n "${help[$command]:-}" ] || help[$command]=$("$program" "$command" --help)
  for word in "$@"; do
    if [[ "$word" =~ ^(--[a-z0-9-]+) ]] && ! grep -qE -- "${BASH_REMATCH[1]}( |,|\$)" <<<"${help[$command]}"; then
      complain "$place" "dragoman $command has no option ${BASH_REMATCH[1]}"
    fi
  done
}

check_script() {  # PAGE LINE SCRIPT ARGUMENT...
  local place="$1:$2" script="$3" word
  shift 3
  commands=$((commands + 1))
  [ -x "$script" ] || { complain "$place" "$script is no script"; return; }
  for word in "$@"; do
    [ "$word" != -- ] || break  # what follows goes to another program
    [[ "$word" != --* ]] || grep -qF -- "${word%%=*}" "$script" || complain "$place" "$script has no option $word"
  done
}

# The commands of one piece of code: each ends at a pipe, a semicolon, && or a comment.
check_commands() {  # PAGE LINE CODE
  local piece words
  while IFS= read -r piece; do
    read -ra words <<<"$piece" || true
    [ "${words[0]:-}" != '$' ] || words=("${words[@]:1}")
    case "${words[0]:-}" in
      dragoman | build/dragoman) [[ ! "${words[1]:-}" =~ ^[a-z][a-z-]*$ ]] || check_program "$1" "$2" "${words[@]:1}" ;;
      scripts/*.sh) check_script "$1" "$2" "${words[@]}" ;;
    esac
  done < <(sed 's/[[:space:]]#.*//; s/[|;]/\n/g; s/&&/\n/g' <<<"$3")
}

check_quotes() {  # PAGE
  local line text
  while IFS=$'\t' read -r line text; do
    quoted=$((quoted + 1))
    grep -qFx -- "$text" "$sources" || complain "$1:$line" "no source has the line: $text"
  done < <(awk '
    /^[ \t]*```/ { quotes = !in_block && /(cpp|cmake)$/; in_block = !in_block; next }
    quotes { gsub(/^[ \t]+|[ \t]+$/, ""); if ($0 != "" && $0 != "...") print FNR "\t" $0 }' "$1")
}

# A file that a page names: from ROOT, from ROOT/src or beside the page. Sets `found`, empty if there is none.
find_file() {  # PAGE PATH
  local base
  found=""
  for base in . src "$(dirname "$1")"; do
    if [ -f "$base/$2" ]; then
      found="$base/$2"
      return
    fi
  done
}

check_name() {  # PAGE LINE NAME PATH
  names=$((names + 1))
  find_file "$1" "$4"
  if [ -z "$found" ]; then
    return  # check_path complains
  elif [[ "$4" == tests/*.cpp && "$3" =~ ^([A-Za-z0-9_]+)\.([A-Za-z0-9_]+)$ ]]; then
    grep -qE "^(TYPED_)?TEST(_F|_P)?\(${BASH_REMATCH[1]}, *${BASH_REMATCH[2]}\)" "$found" ||
      complain "$1:$2" "\`$4\` has no test $3"
  else
    grep -qwF -- "${3##*::}" "$found" || complain "$1:$2" "\`$4\` does not name ${3##*::}"
  fi
}

# shellcheck disable=SC2016  # backticks are what the pages hold
# "`a`, `b` and `c` in `path`" and "`a`、`b`（`path`）".
check_names() {  # PAGE
  local line text path name file='[A-Za-z0-9_./-]+\.(h|cpp|py|sh|js|mjs)'
  while IFS=: read -r line text; do
    path=$(grep -oE "\`$file\`）?\$" <<<"$text" | tr -d '`）')
    while IFS= read -r name; do
      check_name "$1" "$line" "$name" "$path"
    done < <(grep -oE '`[A-Za-z_][A-Za-z0-9_:.]*`' <<<"${text%\`*\`*}" | tr -d '`')
  done < <(grep -noE "(\`[A-Za-z_][A-Za-z0-9_:.]*\`(, | and |、| 和 ))*\`[A-Za-z_][A-Za-z0-9_:.]*\`( in \`$file\`|（\`$file\`）)" "$1" || true)
}

check_formulas() {  # PAGE
  local line tag
  while IFS=: read -r line tag; do
    formulas=$((formulas + 1))
    tag="${tag#*\{}"
    grep -qE "^\| \(${tag%\}}\) \|.*\`tests/" "$1" || complain "$1:$line" "formula (${tag%\}}) has no row with a test"
  done < <(grep -noE '\\tag\{[A-Za-z0-9]+\}' "$1" || true)
}

check_page() {  # PAGE
  local line code
  check_links "$1"
  check_quotes "$1"
  check_names "$1"
  check_formulas "$1"
  while IFS=$'\t' read -r line code; do
    if [[ "$code" =~ ^\`([A-Za-z0-9_.*-]+(/[A-Za-z0-9_.*-]*)+|[a-z0-9_-]+\.(h|cpp|sh|cmake|py|md))$ ]]; then
      check_path "$1" "$line" "${BASH_REMATCH[1]}"
    fi
    if [[ "$code" =~ dragoman|scripts/ ]]; then  # most code has no command: a process less for each piece
      check_commands "$1" "$line" "${code#\`}"
    fi
  done < <(code_of "$1")
}

sources=$(mktemp)
trap 'rm -f "$sources"' EXIT
find . \( -path './build*' -o -path './.*' \) -prune -o -type f \( -name '*.h' -o -name '*.cpp' -o -name 'CMakeLists.txt' \) \
  -exec cat {} + |
  sed 's/^[[:space:]]*//; s/[[:space:]]*$//' >"$sources"
while IFS= read -r page; do
  check_page "$page"
done < <(find . -name '*.md' -not -path './build*' -not -path './.*' | sed 's#^\./##' | sort)
echo "docs: $links links, $paths paths, $commands commands, $quoted lines of code, $names names, $formulas formulas checked," \
  "$missing missing"
[ "$missing" -eq 0 ]
