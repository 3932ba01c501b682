#!/bin/bash
# What each lever of training does on a small corpus: trains a small model with one change at a time, each for the same
# time, and prints a line a lever with its validation scores, as a Markdown table, so that a user can choose.
#   scripts/small_corpus_study.sh --source FILE --target FILE --valid-source FILE --valid-target FILE
#       [--folder DIR] [--minutes N] [--tokenize 13a] [--only NAME]... [--list] [-- OPTION OF TRAIN...]
#   --folder    where the models go (default: small-corpus-study); the table is also written to DIR/study.md
#   --minutes   of training a lever, all parts together (default: 15)
#   --tokenize  of BLEU, as for dragoman evaluate; zh for Chinese
#   --only      this lever only; may be given repeatedly. --list prints all levers and their options
#   --          what follows goes to every training, the baseline too; the lever's own options win
# Equal time means equal only on a machine that does nothing else. Only the validation text is looked at, no test set.
# A lever that is done is not trained again, one that was interrupted goes on: run the same command. PROGRAM names the
# program (default: build/dragoman). Status 77, that of skipped tests, when a text is not there.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
program="${PROGRAM:-"$(dirname "$0")/../build/dragoman"}"

# What all trainings share. Its cosine ends with the time given, whatever the machine's speed.
baseline="--preset tiny-hour"

# NAME: OPTION...
levers="
baseline:
rdrop-5: --rdrop 5
bpe-dropout: --vocab-type bpe --subword-sampling 0.1
dropout-0.1: --dropout 0.1
dropout-0.3: --dropout 0.3
post-norm: --norm-order post --learning-rate 0.002
vocab-10000: --vocab-size 10000
batch-4096: --batch-tokens 4096 --learning-rate 0.005 --warmup-steps 400
batch-512: --batch-tokens 512 --learning-rate 0.002 --warmup-steps 1600
shape-256: --d-model 256 --d-ff 512 --encoder-layers 3 --decoder-layers 3 --learning-rate 0.002
learning-rate-0.0015: --learning-rate 0.0015
unigram-sampling: --subword-sampling 0.3
ema-0.999: --ema-decay 0.999
inverse-sqrt: --schedule inverse-sqrt
both-word-dropouts: --source-word-dropout 0.1 --target-word-dropout 0.1
attention-and-activation-dropout: --attention-dropout 0.1 --activation-dropout 0.1
label-smoothing-0.2: --label-smoothing 0.2
bpe: --vocab-type bpe
"

fail() { echo "small_corpus_study.sh: $*" >&2; exit 2; }

folder=small-corpus-study minutes=15 tokenize=13a source='' target='' valid_source='' valid_target=''
only=() given=()
while [ $# -gt 0 ]; do
  case "$1" in
    --list) grep . <<<"$levers"; exit 0 ;;
    --) shift; given=("$@"); break ;;
    --source | --target | --valid-source | --valid-target | --folder | --minutes | --tokenize | --only)
      [ $# -gt 1 ] || fail "$1 needs a value"
      case "$1" in
        --source) source="$2" ;;
        --target) target="$2" ;;
        --valid-source) valid_source="$2" ;;
        --valid-target) valid_target="$2" ;;
        --folder) folder="$2" ;;
        --minutes) minutes="$2" ;;
        --tokenize) tokenize="$2" ;;
        --only) grep -q "^$2:" <<<"$levers" || fail "no lever is called '$2'; --list prints them"; only+=("$2") ;;
      esac
      shift 2 ;;
    *) fail "unknown option '$1'; the head of this script lists them" ;;
  esac
done
[ -x "$program" ] || fail "$program is not there; build it, or set PROGRAM"
for file in "$source" "$target" "$valid_source" "$valid_target"; do
  [ -n "$file" ] || fail "--source, --target, --valid-source and --valid-target are needed"
  [ -e "$file" ] || { echo "small_corpus_study.sh: skipped: $file is not there" >&2; exit 77; }
done

is_wanted() { [ ${#only[@]} -eq 0 ] || printf '%s\n' "${only[@]}" | grep -qx "$1"; }

# One word a line; of an option that stands twice the last counts.
merged() {  # OPTION...
  local -A text=()
  local -a order=()
  local word name=''
  for word in "$@"; do
    if [[ "$word" == --* ]]; then
      name="${word%%=*}"
      [ -n "${text[$name]+set}" ] || order+=("$name")
      text[$name]="$word"
    else
      text[$name]+=$'\n'"$word"
    fi
  done
  for name in "${order[@]}"; do printf '%s\n' "${text[$name]}"; done
}

# The last number under a key of the rows of metrics.jsonl that hold WORD.
last_number() {  # MODEL WORD KEY
  grep "$2" "$1/metrics.jsonl" | tail -1 | grep -o "\"$3\":[0-9.e+-]*" | cut -d: -f2
}

best_number() {  # MODEL KEY
  grep '"kind":"validation"' "$1/metrics.jsonl" | grep -o "\"$2\":[0-9.e+-]*" | cut -d: -f2 | sort -g | tail -1
}

score_of() {  # MODEL METRIC OPTION...
  "$program" evaluate --hypothesis "$1/validation.txt" --reference "$valid_target" --metrics "$2" "${@:3}" |
    sed 's/^[^=]* = \([0-9.]*\).*/\1/'
}

study() {  # NAME OPTION...
  local name="$1" model="$folder/$1" options
  shift
  # shellcheck disable=SC2086  # a list of words
  mapfile -t options < <(merged $baseline --tokenize "$tokenize" "${given[@]}" "$@")
  echo "== $name: training, $minutes minutes in all its parts" >&2
  "$program" train --model "$model" --source "$source" --target "$target" --valid-source "$valid_source" \
    --valid-target "$valid_target" --total-minutes "$minutes" "${options[@]}" >&2
  "$program" translate --model "$model" --input "$valid_source" --output "$model/validation.txt"
  # shellcheck disable=SC2016  # backticks of Markdown
  printf '| %s | `%s` | %s | %.1f | %.2f | %.2f | %.2f | %.2f |\n' "$name" "${*:-$baseline}" \
    "$(last_number "$model" '"kind":"checkpoint"' step)" "$(last_number "$model" '"epoch":' epoch)" \
    "$(best_number "$model" bleu || echo nan)" "$(score_of "$model" bleu --tokenize "$tokenize")" \
    "$(score_of "$model" bleu --tokenize "$tokenize" --lowercase)" "$(score_of "$model" chrf)" >"$model/row.part"
  mv "$model/row.part" "$model/row"
}

table() {
  echo "| lever | options | updates | epochs | BLEU, best validation (greedy) | BLEU, final model, beam 4 | lower-cased | chrF |"
  echo "|---|---|---|---|---|---|---|---|"
  local name options
  while IFS=: read -r name options; do
    [ ! -e "$folder/$name/row" ] || cat "$folder/$name/row"
  done < <(grep . <<<"$levers")
}

mkdir -p "$folder"
while IFS=: read -r name options <&3; do
  if is_wanted "$name" && [ ! -e "$folder/$name/row" ]; then
    read -ra words <<<"$options"
    study "$name" "${words[@]}"
    cat "$folder/$name/row" >&2
  fi
done 3< <(grep . <<<"$levers")
table | tee "$folder/study.md"
