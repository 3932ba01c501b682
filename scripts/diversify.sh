#!/bin/bash
# Trains one model on a small parallel text in three stages, each going on from the weights of the one before:
#   both    learns both directions at once, from the text and the text turned round (Ding et al. 2021, arXiv 2109.07780)
#   first   learns one direction from three texts: the pairs as they are; the source with a translation by `both`; a
#           translation of the target by `both` with the target (data diversification, Nguyen et al. 2020, arXiv 1911.01986)
#   model   the same, the source translated anew by `first`
# `first` cuts its texts anew, at random, each time it reads them (subword regularisation, Kudo 2018, arXiv 1804.10959); the
# others read text as it will be when they translate. Of the last one the checkpoint or the average of the last ten is the model
# that has the least validation loss; of the others the checkpoint of the highest BLEU goes on.
# A translation is, of 16 hypotheses, the one nearest the known one (sequence-level interpolation, Kim and Rush 2016, arXiv
# 1606.07947, section 3.3) by sentence chrF, which weighs what is missing more than BLEU and needs no words. Hypotheses that
# go round in circles are left out.
#   scripts/diversify.sh --source FILE --target FILE --valid-source FILE --valid-target FILE --model DIR --minutes N
#       [-- OPTION OF TRAIN...]
#   --model     where the model goes; the rest goes to DIR.stages
#   --minutes   for all stages, translating included
#   --          what follows goes to every training (default: --preset tiny-hour --patience 0); with --subword-sampling or
#               --vocab-type it is they that say how each of them cuts its texts, with --metric and --average how the last ends
# No other text is looked at but the validation text, by the trainings. What is done is not done again: after an
# interruption the same command goes on. PROGRAM names the program (default: build/dragoman). Status 77, that of skipped
# tests, when a text is not there.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
program="${PROGRAM:-"$(dirname "$0")/../build/dragoman"}"

# Of --minutes; on two cores translating 29,000 pairs three times takes the rest of an hour.
share_both=0.27 share_first=0.46 share_model=0.22
# Peak rates; that of `both` is the preset's, 0.003.
rate_first=0.004 rate_model=0.001

fail() { echo "diversify.sh: $*" >&2; exit 2; }

model='' minutes='' source='' target='' valid_source='' valid_target='' options=()
while [ $# -gt 0 ]; do
  [ "$1" = -- ] || [ $# -gt 1 ] || fail "$1 needs a value"
  case "$1" in
    --source) source="$2"; shift 2 ;;
    --target) target="$2"; shift 2 ;;
    --valid-source) valid_source="$2"; shift 2 ;;
    --valid-target) valid_target="$2"; shift 2 ;;
    --model) model="$2"; shift 2 ;;
    --minutes) minutes="$2"; shift 2 ;;
    --) shift; options=("$@"); break ;;
    *) fail "unknown option '$1'; the head of this script lists them" ;;
  esac
done
[ -n "$model" ] || fail "--model is needed"
[ -n "$minutes" ] || fail "--minutes is needed"
[ -x "$program" ] || fail "$program is not there; build it, or set PROGRAM"
for file in "$source" "$target" "$valid_source" "$valid_target"; do
  [ -n "$file" ] || fail "--source, --target, --valid-source and --valid-target are needed"
  [ -e "$file" ] || { echo "diversify.sh: skipped: $file is not there" >&2; exit 77; }
done

given() {  # OPTION
  local option
  for option in "${options[@]}"; do
    [[ "$option" != "$1" && "$option" != "$1="* ]] || return 0
  done
  return 1
}
default() {  # OPTION VALUE: unless it was given
  given "$1" || options+=("$1" "$2")
}
default --preset tiny-hour
default --patience 0

# Prints the options that a model to start from leaves open, one a line: not those of its shape and vocabulary, and not
# the peak rate, which is the stage's.
open_options() {  # OPTION VALUE...
  local decided=" --encoder-layers --decoder-layers --d-model --d-ff --n-heads --norm-order --activation --positions
 --max-positions --tying --vocab-size --vocab-type --joint-vocab --character-coverage --normalization --vocab-lines
 --byte-fallback --learning-rate "
  while [ $# -gt 0 ]; do
    case "$1" in
      --*=*) [[ "$decided" == *[[:space:]]"${1%%=*}"[[:space:]]* ]] || echo "$1"; shift ;;
      *) [[ "$decided" == *[[:space:]]"$1"[[:space:]]* ]] || printf '%s\n' "$1" "$2"; shift 2 ;;
    esac
  done
}
mapfile -t later_options < <(open_options "${options[@]}")
sampling=(--subword-sampling 0.5)
if given --subword-sampling || given --vocab-type; then sampling=(); fi
# Validations of a nearly finished model differ by chance in BLEU, and the highest of twenty is one of a high rate as often as
# not; the loss tells better.
ending=()
given --metric || ending+=(--metric loss)
given --average || ending+=(--average 10)

stage() {  # DIR SHARE_OF_MINUTES SOURCE TARGET OPTION...: trains DIR
  local folder="$1" share="$2" from="$3" to="$4" part
  shift 4
  part=$(awk -v all="$minutes" -v share="$share" 'BEGIN { print all * share }')
  echo "== ${folder##*/}: training, $part minutes in all its parts" >&2
  "$program" train --model "$folder" --total-minutes "$part" --source "$from" --target "$to" \
    --valid-source "$valid_source" --valid-target "$valid_target" "$@" >&2
}

# Prints, for each line of REFERENCE, the hypothesis nearest to it. One that says the same four times over ("lummmmm", "as
# if as if as if as if") is none to learn from: a model that learns from few of them writes many. Where all are such, the
# line itself is printed.
nearest() {  # HYPOTHESES_IN_MOSES_FORMAT REFERENCE
  local known="$1.known" text="$1.text" score="$1.score" circles="$1.circles"
  awk -F ' \\|\\|\\| ' -v known="$known" -v text="$text" -v reference="$2" '
    BEGIN { while ((getline line < reference) > 0) references[n++] = line }
    { print references[$1] >known; print $2 >text }' "$1"
  "$program" evaluate --hypothesis "$text" --reference "$known" --metrics chrf --sentence-level --width 4 | sed 's/^[^=]* = \([0-9.]*\).*/\1/' >"$score"
  { grep -anP '(.{1,20})\1{3}' "$text" || true; } | cut -d : -f 1 >"$circles"
  paste -d '\t' <(awk -F ' \\|\\|\\| ' '{ print $1 }' "$1") "$score" "$text" | awk -F '\t' \
    -v circles="$circles" -v reference="$2" '
    BEGIN {
      while ((getline number < circles) > 0) skipped[number]
      while ((getline line < reference) > 0) { best[n + 0] = line; most[n++] = -1 }
    }
    !(NR in skipped) && $2 + 0 > most[$1] { best[$1] = $3; most[$1] = $2 + 0 }
    END { for (i = 0; i < n; ++i) print best[i] }'
  rm "$known" "$text" "$score" "$circles"
}

translate() {  # MODEL SOURCE REFERENCE OUTPUT
  [ ! -e "$4" ] || return 0
  echo "== ${4##*/}: translating" >&2
  "$program" translate --model "$1" --input "$2" --output "$4.hypotheses" --beam-size 16 --nbest 16 --alpha 1.5 \
    --precision int8
  nearest "$4.hypotheses" "$3" >"$4.part"
  rm "$4.hypotheses"
  mv "$4.part" "$4"
}

stages="$model.stages"
mkdir -p "$stages"
cat "$source" "$target" >"$stages/both.source"
cat "$target" "$source" >"$stages/both.target"
stage "$stages/both" $share_both "$stages/both.source" "$stages/both.target" "${options[@]}"
translate "$stages/both" "$source" "$target" "$stages/forward"
translate "$stages/both" "$target" "$source" "$stages/backward"

cat "$source" "$source" "$stages/backward" >"$stages/three.source"
cat "$target" "$stages/forward" "$target" >"$stages/three.target"
stage "$stages/first" $share_first "$stages/three.source" "$stages/three.target" --initial-model "$stages/both" \
  --learning-rate $rate_first "${sampling[@]}" "${later_options[@]}"

translate "$stages/first" "$source" "$target" "$stages/forward-anew"
cat "$target" "$stages/forward-anew" "$target" >"$stages/three-anew.target"
stage "$model" $share_model "$stages/three.source" "$stages/three-anew.target" --initial-model "$stages/first" \
  --learning-rate $rate_model "${ending[@]}" "${later_options[@]}"
