#!/bin/bash
# scripts/train_and_score.sh, scripts/multi30k.sh and scripts/small_corpus_study.sh on a text of digits, in seconds:
# what they print, that they go on where they were stopped, and what they say when something is missing.
#   tests/scripts/small_corpus_test.sh PROGRAM ROOT
set -uo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
PROGRAM=$(realpath "$1")
export PROGRAM
scripts="$(realpath "$2")/scripts"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

expect() {  # WHAT EXPECTED SEEN
  [ "$2" = "$3" ] && return
  printf '%s: expected "%s", saw "%s"\n' "$1" "$2" "$3"
  failed=1
  return 1
}

# A corpus laid out as Multi30k: digits, and the same backwards.
mkdir corpus
for part in train:200 val:8 test_2016_flickr:12 test_2017_flickr:12; do
  awk -v n="${part#*:}" 'BEGIN { for (i = 1; i <= n; i++) print i % 7, i % 5, i % 3, i % 9 }' >"corpus/${part%:*}.en"
  awk '{ print $4, $3, $2, $1 }' "corpus/${part%:*}.en" >"corpus/${part%:*}.de"
done
small=(--vocab-size 20 --encoder-layers 1 --decoder-layers 1 --d-model 16 --d-ff 16 --n-heads 1 --workers 1
  --batch-tokens 400 --validate-every 5 --average 2)

"$scripts/multi30k.sh" --corpus nowhere 1 >out 2>err
expect "status without a corpus" 77 $?
expect "what it says" 1 "$(grep -c 'skipped: nowhere/train.en is not there' err)"
"$scripts/multi30k.sh" --corpus corpus >out 2>err
expect "status without a seed" 2 $?

"$scripts/multi30k.sh" --corpus corpus --folder runs --minutes 0.02 1 2 -- "${small[@]}" >out 2>err
expect "status of multi30k.sh" 0 $? || cat err
expect "rows of scores" 4 "$(grep -cE '^\| test_201[67]_flickr \| [12] (\| [0-9.]+ ){4}\|$' out)"
expect "rows of means" 2 "$(grep -cE '^\| test_201[67]_flickr \| mean, standard deviation \|' out)"
expect "signatures" 3 "$(grep -cE '^    (BLEU|chrF2)\|' out)"
expect "translations" 10 "$(grep -c '^    translation' out)"
expect "the printed text in the folder" "$(cat out)" "$(cat runs/results.md)"
expect "a tuned search" 1 "$(find runs/seed-1 -name decoding.json | wc -l)"
before=$(stat -c %Y.%s runs/seed-1/metrics.jsonl)
"$scripts/multi30k.sh" --corpus corpus --folder runs --minutes 0.02 1 2 -- "${small[@]}" >again 2>err
expect "the same text the second time" "$(cat out)" "$(cat again)"
expect "no training the second time" "$before" "$(stat -c %Y.%s runs/seed-1/metrics.jsonl)"

# Case must be what --lowercase takes away, so the words of this corpus begin with a capital.
mkdir cased
for file in corpus/*; do sed 's/1/Ä/g; s/2/B/g' "$file" >"cased/$(basename "$file")"; done
"$scripts/multi30k.sh" --corpus cased --folder staged --minutes 0.1 --diversify --lowercase 1 -- "${small[@]}" >out 2>err
expect "status with three stages" 0 $? || cat err
expect "rows of scores of three stages" 2 "$(grep -cE '^\| test_201[67]_flickr \| 1 (\| [0-9.]+ ){4}\|$' out)"
stages=staged/seed-1.stages
expect "pairs of both directions" "400 400" "$(wc -l <$stages/both.source) $(wc -l <$stages/both.target)"
expect "pairs of the larger text" "600 600" "$(wc -l <$stages/three.source) $(wc -l <$stages/three-anew.target)"
expect "pairs that are as they were, in lower case" "" "$(
  cmp <(head -200 $stages/three.source) <(sed 's/Ä/ä/g; s/B/b/g' cased/train.en)
  cmp <(tail -200 $stages/three.target) <(sed 's/Ä/ä/g; s/B/b/g' cased/train.de))"
expect "stages that go on from another" 2 "$(grep -cE 'starting from the weights.*stages/(both|first)$' err)"
sampling_of() { grep -ho '"subword_sampling": [0-9.]*' "$1"/checkpoints/step-*/recipe.json | sort -u | cut -d ' ' -f 2; }
expect "sub-word sampling of both, first, model" "0.0 0.5 0.0" \
  "$(sampling_of $stages/both) $(sampling_of $stages/first) $(sampling_of staged/seed-1)"
expect "files of hypotheses that are left" 0 "$(find $stages -name '*.hypotheses*' -o -name '*.part' | wc -l)"
# Of 16 hypotheses the nearest cannot be worse than the likeliest, where that one does not go round in circles.
"$PROGRAM" translate --model $stages/both --input staged/lowercased/cased_train.en --output likeliest 2>err.translate
grep -vnE '(.{1,20})\1{3}' likeliest | cut -d : -f 1 >sound
in_sound_lines() { awk 'BEGIN { while ((getline number < "sound") > 0) kept[number] } FNR in kept' "$1"; }
in_sound_lines staged/lowercased/cased_train.de >known
chrf() { "$PROGRAM" evaluate --hypothesis <(in_sound_lines "$1") --reference known --metrics chrf |
  sed 's/^[^=]* = \([0-9.]*\).*/\1/'; }
[ ! -s sound ] || expect "chrF $(chrf $stages/forward) of the nearest is below $(chrf likeliest), that of the likeliest" 1 \
  "$(awk -v nearest="$(chrf $stages/forward)" -v likeliest="$(chrf likeliest)" 'BEGIN { print (nearest >= likeliest) }')"
expect "a capital anywhere" 0 "$(cat staged/lowercased/* $stages/forward staged/seed-1/*.txt | grep -c '[ABÄ]')"
before=$(stat -c %Y.%s $stages/forward $stages/both/metrics.jsonl)
"$scripts/multi30k.sh" --corpus cased --folder staged --minutes 0.1 --diversify --lowercase 1 -- "${small[@]}" >again 2>err
expect "the same text of three stages the second time" "$(cat out)" "$(cat again)"
expect "no stage the second time" "$before" "$(stat -c %Y.%s $stages/forward $stages/both/metrics.jsonl)"
# A program that translates in circles, every second line also soundly.
cat >circling <<'END'
#!/bin/bash
[ "$1" != evaluate ] || exec "$REAL" "$@"
echo "$@" >>calls
while [ $# -gt 0 ]; do
  case "$1" in --model) mkdir -p "$2" ;; --input) input="$2" ;; --output) output="$2" ;; esac
  shift
done
[ -z "$output" ] || awk '{ print NR - 1 " ||| lummmm ||| F0= -1 ||| -1" }
  NR % 2 { print NR - 1 " ||| 0 " $2 " ||| F0= -2 ||| -2" }' "$input" >"$output"
END
chmod +x circling
REAL="$PROGRAM"
export REAL
PROGRAM=./circling "$scripts/diversify.sh" --model circles --minutes 1 --source corpus/train.en \
  --target corpus/train.de --valid-source corpus/val.en --valid-target corpus/val.de >out 2>err
expect "status of diversify.sh with hypotheses in circles" 0 $? || cat err
expect "sound hypotheses, and known lines where there is none" \
  "$(paste corpus/train.en corpus/train.de | awk -F '\t' '{ split($1, word, " "); print NR % 2 ? "0 " word[2] : $2 }')" \
  "$(cat circles.stages/forward)"
expect "trainings that sample sub-words" circles.stages/first \
  "$(grep -e '--subword-sampling 0.5' calls | grep -oe '--model [^ ]*' | cut -d ' ' -f 2)"
expect "trainings whose end the loss chooses" circles \
  "$(grep -e '--metric loss --average 10' calls | grep -oe '--model [^ ]*' | cut -d ' ' -f 2)"
rm -r calls circles circles.stages
PROGRAM=./circling "$scripts/diversify.sh" --model circles --minutes 1 --source corpus/train.en \
  --target corpus/train.de --valid-source corpus/val.en --valid-target corpus/val.de -- --vocab-type bpe --metric chrf --average=3 >out 2>err
expect "status of diversify.sh with other options" 0 $? || cat err
expect "trainings that sample other sub-words" "3 0" "$(grep -c '^train' calls) $(grep -c -e --subword-sampling calls)"
expect "trainings with another end" "3 0" "$(grep -c -e '--metric chrf --average=3' calls) $(grep -c -e '--metric loss' calls)"
"$scripts/diversify.sh" --source corpus/train.en --model m >out 2>err
expect "status of diversify.sh without minutes" 2 $?

files=(--source corpus/train.en --target corpus/train.de --valid-source corpus/val.en --valid-target corpus/val.de)
study=("$scripts/small_corpus_study.sh" "${files[@]}" --folder study --minutes 0.05 --only baseline --only rdrop-5
  --only batch-512 -- "${small[@]}")
"$scripts/small_corpus_study.sh" "${files[@]}" --only nothing >out 2>err
expect "status for an unknown lever" 2 $?
setsid "${study[@]}" >out 2>err &
pid=$!
for ((tries = 0; tries < 300; tries++)); do
  [ ! -e study/baseline/metrics.jsonl ] || break
  sleep 0.1
done
kill -9 -- -$pid
wait $pid 2>/dev/null
for ((tries = 0; tries < 50; tries++)); do  # the training dies a moment later, and until then its folder is in use
  kill -0 -- -$pid 2>/dev/null || break
  sleep 0.1
done
"${study[@]}" >out 2>err
expect "status of the study" 0 $? || cat err
expect "a line a lever" 3 "$(grep -cE '^\| (baseline|rdrop-5|batch-512) \| `' out)"
# shellcheck disable=SC2016  # backticks of Markdown
expect "the options of the lever" 1 "$(grep -cE '^\| rdrop-5 \| `--rdrop 5` \| [0-9]+ \| [0-9.]+ \|' out)"
expect "no number is missing" 0 "$(grep -c '| *|' out)"
expect "the lever's batch" '"batch_tokens": 512' \
  "$(grep -ho '"batch_tokens": [0-9]*' study/batch-512/checkpoints/step-*/recipe.json | sort -u)"
before=$(cat study/*/metrics.jsonl | wc -c)
"${study[@]}" >again 2>err
expect "the same table the second time" "$(cat out)" "$(cat again)"
expect "no training of the study the second time" "$before" "$(cat study/*/metrics.jsonl | wc -c)"

[ $failed = 0 ] && echo "small corpus scripts: as they should be"
exit $failed
