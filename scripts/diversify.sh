#!/bin/bash
# Makes a small parallel text larger by what models trained on it say about it: data diversification (Nguyen et al. 2020,
# arXiv 1911.01986) in one round, with one model each way.
#   scripts/diversify.sh --source FILE --target FILE --valid-source FILE --valid-target FILE --minutes N
#       [--folder DIR] [-- OPTION OF TRAIN...]
#   --minutes   of training for each of the two models
#   --folder    where all goes (default: diversified)
#   --          what follows goes to both trainings (default: --preset tiny-hour --patience 0)
# Writes DIR/train.source and DIR/train.target: the text; the source with its translation by DIR/forward; the target's
# translation by DIR/backward with the target. No other text is looked at but the validation text, by the two trainings.
# What is done is not done again: after an interruption the same command goes on. PROGRAM names the program (default:
# build/dragoman). Status 77, that of skipped tests, when a text is not there.
set -euo pipefail
program="${PROGRAM:-"$(dirname "$0")/../build/dragoman"}"

fail() { echo "diversify.sh: $*" >&2; exit 2; }

folder=diversified minutes='' source='' target='' valid_source='' valid_target='' options=()
while [ $# -gt 0 ]; do
  [ "$1" = -- ] || [ $# -gt 1 ] || fail "$1 needs a value"
  case "$1" in
    --source) source="$2"; shift 2 ;;
    --target) target="$2"; shift 2 ;;
    --valid-source) valid_source="$2"; shift 2 ;;
    --valid-target) valid_target="$2"; shift 2 ;;
    --folder) folder="$2"; shift 2 ;;
    --minutes) minutes="$2"; shift 2 ;;
    --) shift; options=("$@"); break ;;
    *) fail "unknown option '$1'; the head of this script lists them" ;;
  esac
done
[ -n "$minutes" ] || fail "--minutes is needed"
[ -x "$program" ] || fail "$program is not there; build it, or set PROGRAM"
for file in "$source" "$target" "$valid_source" "$valid_target"; do
  [ -n "$file" ] || fail "--source, --target, --valid-source and --valid-target are needed"
  [ -e "$file" ] || { echo "diversify.sh: skipped: $file is not there" >&2; exit 77; }
done

default() {  # OPTION VALUE: unless it was given
  local option
  for option in "${options[@]}"; do
    [[ "$option" != "$1" && "$option" != "$1="* ]] || return 0
  done
  options+=("$1" "$2")
}
default --preset tiny-hour
default --patience 0

# Models of so short a training translate too briefly with the default length penalty.
translate=(--precision int8 --alpha 1.5)

helper() {  # NAME SOURCE TARGET VALID_SOURCE VALID_TARGET: trains it and has it translate its source
  local model="$folder/$1"
  [ ! -e "$model/translated" ] || return 0
  echo "== the $1 model: training, $minutes minutes in all its parts" >&2
  "$program" train --model "$model" --total-minutes "$minutes" --source "$2" --target "$3" \
    --valid-source "$4" --valid-target "$5" "${options[@]}" >&2
  "$program" translate --model "$model" --input "$2" --output "$model/translations" "${translate[@]}"
  mv "$model/translations" "$model/translated"
}

mkdir -p "$folder"
helper forward "$source" "$target" "$valid_source" "$valid_target"
helper backward "$target" "$source" "$valid_target" "$valid_source"
cat "$source" "$source" "$folder/backward/translated" >"$folder/train.source"
cat "$target" "$folder/forward/translated" "$target" >"$folder/train.target"
