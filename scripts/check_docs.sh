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
# Prints page, line and what is missing; status 1 if anything is, 2 for wrong use.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
program=$(realpath -m "${1:-"$(dirname "$0")/../build/dragoman"}")
cd "${2:-"$(dirname "$0")/.."}"
made_at_run_time="build build-examples build-sanitize build-thread quickstart multi30k my-model checkpoints"
missing=0
links=0
paths=0
commands=0
quoted=0

if [ ! -x "$program" ]; then
  echo "check_docs.sh: $program is not there; build it, or name the program as first argument" >&2
  exit 2
fi
known_commands=" $("$program" --help | sed -n 's/^  \([a-z][a-z-]*\)   *[^ ].*/\1/p' | tr '\n' ' ')"
declare -A help

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

check_links() {  # PAGE
  local line target
  while IFS=$'\t' read -r line target; do
    links=$((links + 1))
    [ -e "$(dirname "$1")/${target%%#*}" ] || complain "$1:$line" "link to $target, which does not exist"
  done < <(awk '
    /^[ \t]*```/ { in_block = !in_block; next }
    !in_block {
      rest = $0
      while (match(rest, /\]\([^)]*\)/)) {
        target = substr(rest, RSTART + 2, RLENGTH - 3)
        if (target !~ /^([a-z]+:|#)/) print FNR "\t" target
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

check_page() {  # PAGE
  local line code
  check_links "$1"
  check_quotes "$1"
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
echo "docs: $links links, $paths paths, $commands commands, $quoted lines of code checked, $missing missing"
[ "$missing" -eq 0 ]
