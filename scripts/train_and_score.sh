#!/bin/bash
# Trains one model a seed within a limit of time, tunes its search on the validation text, scores it on test sets, and
# prints Markdown: a line for each test set and seed, mean and deviation, signatures, the learning curve of the first
# seed, ten translations.
#   scripts/train_and_score.sh --source FILE --target FILE --valid-source FILE --valid-target FILE
#       --test NAME SOURCE TARGET ... [--folder DIR] [--minutes N] [--diversify] [--lowercase] [--tokenize 13a] SEED...
#       [-- OPTION OF TRAIN...]
#   --test      a test set: its name in the table and its two files; may be given repeatedly
#   --folder    where models and translations go (default: results); what is printed goes to DIR/results.md as well
#   --minutes   of training for each seed, all parts together (default: 55, so that tuning and scoring end within an hour)
#   --diversify train in the three stages of scripts/diversify.sh, all of them within --minutes
#   --lowercase train and score on lower-cased text, as some papers do
#   --tokenize  of BLEU, as for dragoman evaluate; zh for Chinese
# Beam size and length penalty are those that `dragoman tune` finds on the validation text; one column has those of the
# paper (beam 4, alpha 0.6) beside them. Options of train win over those of this script, but for the minutes. What is done
# is not done again: after an interruption the same command goes on. PROGRAM names the program (default: build/dragoman).
# Status 77, that of skipped tests, when a text is not there.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
program="${PROGRAM:-"$(dirname "$0")/../build/dragoman"}"

fail() { echo "train_and_score.sh: $*" >&2; exit 2; }
need() { [ "$2" -gt "$3" ] || fail "$1 needs $3 value(s)"; }

folder=results minutes=55 diversify='' lowercase='' tokenize=13a source='' target='' valid_source='' valid_target=''
test_names=() test_sources=() test_targets=() seeds=() given=()
while [ $# -gt 0 ]; do
  case "$1" in
    --source) need "$1" $# 1; source="$2"; shift 2 ;;
    --target) need "$1" $# 1; target="$2"; shift 2 ;;
    --valid-source) need "$1" $# 1; valid_source="$2"; shift 2 ;;
    --valid-target) need "$1" $# 1; valid_target="$2"; shift 2 ;;
    --test) need "$1" $# 3; test_names+=("$2"); test_sources+=("$3"); test_targets+=("$4"); shift 4 ;;
    --folder) need "$1" $# 1; folder="$2"; shift 2 ;;
    --minutes) need "$1" $# 1; minutes="$2"; shift 2 ;;
    --diversify) diversify=yes; shift ;;
    --lowercase) lowercase=yes; shift ;;
    --tokenize) need "$1" $# 1; tokenize="$2"; shift 2 ;;
    --) shift; given=("$@"); break ;;
    -*) fail "unknown option '$1'; the head of this script lists them" ;;
    *) [[ "$1" =~ ^[0-9]+$ ]] || fail "seed '$1' is not a number"; seeds+=("$1"); shift ;;
  esac
done
[ ${#seeds[@]} -gt 0 ] || fail "name at least one seed"
[ ${#test_names[@]} -gt 0 ] || fail "name at least one --test"
[ -x "$program" ] || fail "$program is not there; build it, or set PROGRAM"
for file in "$source" "$target" "$valid_source" "$valid_target" "${test_sources[@]}" "${test_targets[@]}"; do
  [ -n "$file" ] || fail "--source, --target, --valid-source and --valid-target are needed"
  [ -e "$file" ] || { echo "train_and_score.sh: skipped: $file is not there" >&2; exit 77; }
done

train_options=("${given[@]}")
default() {  # OPTION VALUE: unless it was given
  local option
  for option in "${given[@]}"; do
    [[ "$option" != "$1" && "$option" != "$1="* ]] || return 0
  done
  train_options+=("$1" "$2")
}
default --preset tiny-hour
default --patience 0
default --tokenize "$tokenize"

# "BLEU|... = 38.84 ..." -> 38.84
score_in() { printf '%s\n' "$1" | sed 's/^[^=]* = \([0-9.]*\).*/\1/'; }

# Prints the name of a lower-cased copy in the folder.
lowercased() {  # FILE
  local copy="$folder/lowercased/${1//\//_}"
  mkdir -p "$folder/lowercased"
  sed 's/.*/\L&/' "$1" >"$copy"
  echo "$copy"
}
if [ -n "$lowercase" ]; then
  source=$(lowercased "$source") target=$(lowercased "$target")
  valid_source=$(lowercased "$valid_source") valid_target=$(lowercased "$valid_target")
  for i in "${!test_names[@]}"; do
    test_sources[i]=$(lowercased "${test_sources[$i]}") test_targets[i]=$(lowercased "${test_targets[$i]}")
  done
fi

train_and_tune() {  # MODEL SEED
  local text=(--source "$source" --target "$target" --valid-source "$valid_source" --valid-target "$valid_target")
  if [ -n "$diversify" ]; then
    PROGRAM="$program" "$(dirname "$0")/diversify.sh" --model "$1" --minutes "$minutes" "${text[@]}" \
      -- --seed "$2" "${train_options[@]}"
  else
    echo "== seed $2: training, $minutes minutes in all its parts" >&2
    "$program" train --model "$1" --seed "$2" --total-minutes "$minutes" "${text[@]}" "${train_options[@]}" >&2
  fi
  echo "== seed $2: tuning the search on the validation text" >&2
  "$program" tune --model "$1" --source "$valid_source" --target "$valid_target" --tokenize "$tokenize" >"$1/tuning.md"
  tail -1 "$1/tuning.md" >&2
}

mkdir -p "$folder"
rows="$folder/rows"
: >"$rows"
for seed in "${seeds[@]}"; do
  model="$folder/seed-$seed"
  if [ ! -e "$model/scored" ]; then
    begin=$SECONDS
    train_and_tune "$model" "$seed"
    for i in "${!test_names[@]}"; do
      "$program" translate --model "$model" --input "${test_sources[$i]}" --output "$model/${test_names[$i]}.txt"
      "$program" translate --model "$model" --input "${test_sources[$i]}" --output "$model/${test_names[$i]}.paper.txt" \
        --beam-size 4 --alpha 0.6
    done
    echo "$((SECONDS - begin)) s of wall time in this part, start, tuning and translating included" | tee "$model/scored" >&2
  fi
  for i in "${!test_names[@]}"; do
    reference="${test_targets[$i]}" translations="$model/${test_names[$i]}"
    bleu=("$program" evaluate --reference "$reference" --tokenize "$tokenize" --metrics bleu)
    lower=$("${bleu[@]}" --lowercase --hypothesis "$translations.txt")
    paper=$("${bleu[@]}" --lowercase --hypothesis "$translations.paper.txt")
    cased=$("${bleu[@]}" --hypothesis "$translations.txt")
    chrf=$("$program" evaluate --reference "$reference" --metrics chrf --hypothesis "$translations.txt")
    echo "${test_names[$i]} $seed $(score_in "$lower") $(score_in "$paper") $(score_in "$cased") $(score_in "$chrf")" >>"$rows"
    signatures=$(printf '%s\n%s\n%s\n' "$lower" "$cased" "$chrf" | sed 's/ = .*//; s/^ */    /')
  done
done

first="$folder/seed-${seeds[0]}"
table() {
  printf '| test set | seed | BLEU, lower-cased | the same, beam 4, alpha 0.6 | BLEU, cased | chrF |\n|---|---|---|---|---|---|\n'
  for name in "${test_names[@]}"; do
    awk -v name="$name" '
      $1 == name {
        print "| " $1 " | " $2 " | " $3 " | " $4 " | " $5 " | " $6 " |"
        n++
        for (k = 3; k <= 6; k++) { sum[k] += $k; squares[k] += $k * $k }
      }
      END {
        if (n < 2) exit
        line = "| " name " | mean, standard deviation |"
        for (k = 3; k <= 6; k++) {
          variance = (squares[k] - sum[k] * sum[k] / n) / (n - 1)
          line = line sprintf(" %.2f, %.2f |", sum[k] / n, sqrt(variance > 0 ? variance : 0))
        }
        print line
      }' "$rows"
  done
}

learning_curve() {
  printf '| step | epoch | minutes | loss | perplexity | BLEU | chrF |\n|---|---|---|---|---|---|---|\n'
  grep '"kind":"validation"' "$first/metrics.jsonl" | tr -d '{}"' | awk -F, '{
    for (i = 1; i <= NF; i++) { split($i, pair, ":"); value[pair[1]] = pair[2] }
    printf "| %d | %.1f | %.0f | %.3f | %.2f | %.2f | %.2f |\n", value["step"], value["epoch"], value["seconds"] / 60,
      value["loss"], value["perplexity"], value["bleu"], value["chrf"]
  }' || echo "(the time was too short for a validation)"
}

samples() {
  local n
  for n in 1 2 3 4 5 6 7 8 9 10; do
    printf '\n    source       %s\n    translation  %s\n    reference    %s\n' "$(sed -n "${n}p" "${test_sources[0]}")" \
      "$(sed -n "${n}p" "$first/${test_names[0]}.txt")" "$(sed -n "${n}p" "${test_targets[0]}")"
  done
}

{
  table
  printf '\nSignatures:\n\n%s\n' "$signatures"
  for seed in "${seeds[@]}"; do
    printf '\nSeed %s: %s; %s.\n' "$seed" "$(tail -1 "$folder/seed-$seed/tuning.md" | sed 's/^[^:]*: //')" \
      "$(cat "$folder/seed-$seed/scored")"
  done
  printf '\nLearning curve of seed %s (validation, greedy):\n\n' "${seeds[0]}"
  learning_curve
  printf '\nThe first ten lines of %s, seed %s:\n' "${test_names[0]}" "${seeds[0]}"
  samples
} | tee "$folder/results.md"
