#!/bin/bash
# Translates a file in shards, as the tasks of a Slurm array or one after the other.
#   scripts/slurm_translate.sh split INPUT FOLDER SHARDS      cuts INPUT (may be .gz) into FOLDER/in.NNNNNN
#   sbatch --array=0-15 scripts/slurm_translate.sh work FOLDER -- --model DIR [OPTION...]
#                                                            each task translates its share of the shards
#   scripts/slurm_translate.sh join FOLDER OUTPUT             checks that all is there, and puts it together
# Options behind -- are those of `dragoman translate`; DRAGOMAN names another program than the one in PATH.
# Without Slurm `work` is one task that does all shards. A task skips what is done, so a job that lost tasks is submitted
# again as it was. A shard is done when FOLDER/out.NNNNNN is there; it is written under another name before. Two tasks with
# one shard write the same bytes, so each line comes exactly once.
# Status 1 if something is missing or fails, 2 for wrong use.
#SBATCH --requeue
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes

fail() { echo "slurm_translate.sh: $*" >&2; exit "${status:-2}"; }

lines_of() { awk 'END { print NR }' "$1"; }  # a last line without LF counts

split_input() {  # INPUT FOLDER SHARDS
  [ $# = 3 ] || fail "split needs INPUT, FOLDER and SHARDS, seen $# arguments"
  local input=$1 folder=$2 shards=$3 lines
  [[ "$shards" =~ ^[1-9][0-9]{0,5}$ ]] || fail "SHARDS is '$shards', must be 1 to 999999"
  [ -r "$input" ] || fail "$input cannot be read"
  [ ! -e "$folder/lines" ] || fail "$folder holds shards already; give another FOLDER"
  mkdir -p "$folder"
  lines=$(zcat -f "$input" | awk 'END { print NR }')
  [ "$lines" -gt 0 ] || fail "$input has no lines"
  zcat -f "$input" | split -a 6 -d -l $(((lines + shards - 1) / shards)) - "$folder/in."
  echo "$lines" >"$folder/lines.tmp"
  mv "$folder/lines.tmp" "$folder/lines"
  echo "slurm_translate.sh: $lines lines in $(find "$folder" -name 'in.*' | wc -l) shards"
}

translate_shard() {  # FOLDER NUMBER OPTION...
  local folder=$1 number=$2 aside
  shift 2
  aside="$folder/aside.$number.$(hostname).$$"
  "${DRAGOMAN:-dragoman}" translate "$@" --input "$folder/in.$number" --output "$aside"
  if [ "$(lines_of "$aside")" != "$(lines_of "$folder/in.$number")" ]; then
    status=1 fail "$aside has $(lines_of "$aside") lines, its input $(lines_of "$folder/in.$number")"
  fi
  mv "$aside" "$folder/out.$number"
}

# Task number t of T takes shards t, t + T, t + 2 T ...; numbers are Slurm's, in whatever range they are.
work() {  # FOLDER -- OPTION...
  [ "${2:-}" = -- ] || fail "work needs FOLDER, then --, then options of dragoman translate"
  local folder=$1 first=${SLURM_ARRAY_TASK_MIN:-0} last=${SLURM_ARRAY_TASK_MAX:-0} step=${SLURM_ARRAY_TASK_STEP:-1}
  local task tasks file number place=0 done=0
  shift 2
  [ -e "$folder/lines" ] || fail "$folder has no shards; run split first"
  tasks=$(((last - first) / step + 1))
  task=$(((${SLURM_ARRAY_TASK_ID:-0} - first) / step))
  for file in "$folder"/in.*; do
    number=${file##*.}
    if [ $((place % tasks)) = "$task" ] && [ ! -e "$folder/out.$number" ]; then
      translate_shard "$folder" "$number" "$@"
      done=$((done + 1))
    fi
    place=$((place + 1))
  done
  echo "slurm_translate.sh: task $task of $tasks translated $done shards"
}

join() {  # FOLDER OUTPUT
  [ $# = 2 ] || fail "join needs FOLDER and OUTPUT, seen $# arguments"
  local folder=$1 output=$2 file missing=()
  [ -e "$folder/lines" ] || fail "$folder has no shards; run split first"
  for file in "$folder"/in.*; do
    [ -e "$folder/out.${file##*.}" ] || missing+=("${file##*.}")
  done
  [ ${#missing[@]} = 0 ] || status=1 fail "${#missing[@]} shards are not translated: ${missing[*]:0:10}; submit the array again"
  find "$folder" -name 'out.*' -print0 | sort -z | xargs -0 cat >"$output.tmp"
  [ "$(lines_of "$output.tmp")" = "$(cat "$folder/lines")" ] ||
    status=1 fail "$output.tmp has $(lines_of "$output.tmp") lines, the input had $(cat "$folder/lines")"
  mv "$output.tmp" "$output"
  echo "slurm_translate.sh: $(cat "$folder/lines") lines in $output"
}

case "${1:-}" in
  split) shift; split_input "$@" ;;
  work) shift; work "$@" ;;
  join) shift; join "$@" ;;
  *) fail "'${1:-}' is no action; known: split, work, join" ;;
esac
