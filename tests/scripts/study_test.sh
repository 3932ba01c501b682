#!/bin/bash
# dragoman study on a text of digits, in seconds: every file of configs/studies is sound, a study that was killed several
# times gives the results of one that never stopped, and wrong files are refused with file and line.
#   tests/scripts/study_test.sh PROGRAM ROOT
set -uo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
program=$(realpath "$1")
root=$(realpath "$2")
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

# A corpus laid out as Multi30k and as WMT14: digits, and the same backwards.
mkdir -p corpus/few
for part in train:200 few/train:2900 val:8 dev:8 test:8 test_2016_flickr:12 test_2017_flickr:12 newstest2013:8 newstest2014:8; do
  awk -v n="${part#*:}" 'BEGIN { for (i = 1; i <= n; i++) print i % 7, "A" i % 5, i % 3, i % 9 }' >"corpus/${part%:*}.en"
  awk '{ print $4, $3, $2, $1 }' "corpus/${part%:*}.en" >"corpus/${part%:*}.de"
done
cat corpus/train.en >corpus/tinyshakespeare.txt
for folder in multi30k tatoeba-en-de tatoeba-en-fr tatoeba-en-zh 3am-en-zh bible-en-de mlqe-pe-en-de; do
  mkdir "corpus/$folder"
  cp corpus/train.en corpus/train.de corpus/val.?? "corpus/$folder"
done
mkdir corpus/lm corpus/wmt-news-en-de
cp corpus/val.en corpus/lm/wikitext-2.valid.txt
cp corpus/val.en corpus/lm/wikitext-2.test.txt
for year in 2008 2009 2010 2011 2012 2013 2015 2016 2017 2018; do
  cp corpus/val.en "corpus/wmt-news-en-de/newstest$year.en"
done
# Whether a sentence begins with an even digit; and of each word, whether it is a digit.
for part in train test; do
  awk '{ print ($1 % 2 ? "odd" : "even") "\t" $0 }' "corpus/$part.en" >"corpus/$part.tsv"
  awk '{ for (i = 1; i <= NF; i++) print $i "\t" ($i ~ /A/ ? "B-A" : "O"); print "" }' "corpus/$part.en" >"corpus/$part.tags"
done
cp corpus/test.tsv corpus/dev.tsv
cp corpus/train.tsv corpus/phrases.train.tsv
for task in sst2 trec ewt-upos conll2000 treebank mrpc; do
  mkdir -p "corpus/tasks/$task"
  paste corpus/train.tsv corpus/train.de >"corpus/tasks/$task/train.tsv"
done
for task in ewt-upos conll2000; do
  cp corpus/train.tags corpus/tasks/$task/train.tsv
  cp corpus/test.tags corpus/tasks/$task/dev.tsv
  cp corpus/test.tags corpus/tasks/$task/test.tsv
done
# Four tasks in one model.
cp corpus/train.tsv corpus/all.train.tsv
cp corpus/train.tsv corpus/all.valid.tsv
for task in translate sst2 cola trec; do
  cp corpus/test.en "corpus/$task.input"
  cp corpus/test.de "corpus/$task.target"
done

cp corpus/val.?? corpus/test_2016_flickr.?? corpus/few/

for file in "$root"/configs/studies/*.yaml; do
  name=$(basename "$file" .yaml)
  case $name in
    few-pairs) corpus=corpus/few ;;
    ewt-upos | conll2000) corpus=corpus/tasks/$name ;;
    *) corpus=corpus ;;
  esac
  "$program" study "$file" --corpus $corpus --dry-run >out 2>err
  expect "status of a dry run of ${file##*/}" 0 $? || cat err
  expect "a row of all runs of ${file##*/}" 1 "$(grep -c '^| all |' out)"
done
expect "folders that dry runs leave" corpus "$(find . -mindepth 1 -maxdepth 1 -type d -printf '%f')"

# Two rows, two seeds, stages with distillation, back-translation and a filter, a few updates.
cat >trial.yaml <<'END'
title: A trial
variables: {from: en, updates: 12}
texts: {source: "train.{from}", target: train.de, valid-source: "val.{from}", valid-target: val.de}
tests:
  test: {source: test.en, target: test.de}
  long: {source: test.en, target: test.de, join: 2}
seeds: [1, 2]
lowercase: true
options:
  preset: tiny
  vocab-size: 24
  encoder-layers: 1
  decoder-layers: 1
  d-model: 16
  d-ff: 16
  n-heads: 1
  workers: 1
  batch-tokens: 400
  max-steps: "{updates}"
  validate-every: 4
  average: 2
  precision: float32
rows:
  base: {paper: 25.8}
  dropout-0: {dropout: 0, paper: 24.6}
stages:
  both: {do: train, source: [source, target], target: [target, source]}
  forward: {do: distill, teacher: both, source: source, nearest-to: target, options: {beam-size: 4, nbest: 4}}
  backward: {do: back-translate, model: both, target: target}
  near: {do: filter, source: source, target: forward, nearest-to: target, keep: 0.5}
  model:
    do: train
    start-from: both
    source: [source, near.source, backward]
    target: [target, near.target, target]
    options: {learning-rate: 0.001}
searches:
  paper: {beam-size: 4}
  reverse: {reverse-model: both, reverse-weight: 0.1}
perplexity:
  kept:
  of-two: {batch-statistics: 2}
END
study=("$program" study trial.yaml --corpus corpus --quiet)

"${study[@]}" --folder whole >out 2>err
expect "status of the study" 0 $? || cat err
expect "the printed report" "$(cat out)" "$(cat whole/report.md)"
expect "runs" 1 "$(grep -c '^4 of 4 runs are done' out)"
expect "a conclusion" 1 "$(grep -cE '^- dropout-0 (is (better|worse) than|against) base' out)"
expect "rows of comparisons" 3 "$(grep -cE '^\| dropout-0 \| (validation|test|long) \| 2 \|.* \| -1\.2 \|' out)"
expect "pairs of the filter" 100 "$(wc -l <whole/base/seed-1/near.source.txt)"
expect "capitals" 0 "$(cat whole/texts/* whole/tests/* whole/base/seed-1/*.txt | grep -c A)"
expect "tables by length" 1 "$(grep -c '^BLEU by the words of a source sentence, test$' out)"
expect "sentences of the lengths" 2 "$(grep -c '^| row | 0-10 words, sentences: 8 |' out)"
expect "tables of perplexity" 3 "$(grep -c '^Perplexity of \(validation\|test\|long\): ' out)"
expect "equal perplexities of layer norms" 6 "$(awk '/^Perplexity/ { inside = 1 } /^## / { inside = 0 } inside' out | grep -cE '^\| (base|dropout-0) \| ([0-9.]+ ± [0-9.]+) \| \2 \|$')"
expect "speeds" 2 "$(awk '/^Going through/ { inside = 1 } /^## / { inside = 0 } inside' out | grep -cE '^\| (base|dropout-0) \| [0-9.]+ \| [0-9.]+ \|$')"
expect "lines of two" 4 "$(wc -l <whole/base/seed-2/long.paper.txt)"
expect "what differs between the rows" 1 "$(awk '/^What differs between the rows/ { inside = 1 } /^## / { inside = 0 } inside' out | grep -cE '^\| dropout \| 0\.[0-9]+ \| 0(\.0)? \|$')"
expect "what it ran on" 1 "$(grep -cF "| program | $("$program" --version | head -1) |" out)"
expect "its workers and its date" 2 "$(grep -cE "^\| (workers \| 1|date of the report \| [0-9]{4}-[0-9]{2}-[0-9]{2}) \|$" out)"
expect "times in results.json" 0 "$(grep -cE '"(minutes|hours|seconds|date)"' whole/results.json)"
expect "lines of charts, two seeds of two rows in two languages" 8 "$(grep -o '<polyline class="line thin' whole/report.html | wc -l)"
expect "leftovers" 0 "$(find whole -name '*.hypotheses' -o -name '*.input' -o -name '*.part' -o -name '*.tmp' | wc -l)"
before=$(find whole -name metrics.jsonl -exec stat -c %Y.%s {} +)
"${study[@]}" --folder whole >again 2>err
expect "the same report the second time" "$(cat out)" "$(cat again)"
expect "no training the second time" "$before" "$(find whole -name metrics.jsonl -exec stat -c %Y.%s {} +)"

# A given model teaches; one that is not there is refused before anything is trained.
cat >taught.yaml <<'END'
models: {teacher: whole/base/seed-1/model}
texts: {source: train.en, target: train.de}
tests: {test: {source: test.en, target: test.de}}
lowercase: true
options: {preset: tiny, vocab-size: 24, encoder-layers: 1, decoder-layers: 1, d-model: 16, d-ff: 16, n-heads: 1, workers: 1, batch-tokens: 400, max-steps: 4}
rows: {student: {}}
stages:
  taught: {do: distill, teacher: teacher, source: source, options: {beam-size: 2}}
  model: {do: train, source: [source, source], target: [target, taught]}
searches: {both: {reverse-model: teacher}}
END
"$program" study taught.yaml --corpus corpus --quiet --folder taught >out 2>err
expect "status of a student" 0 $? || cat err
expect "what the given model wrote" 200 "$(wc -l <taught/student/seed-1/taught.txt)"
sed 's,whole/base,nowhere,' taught.yaml >astray.yaml
"$program" study astray.yaml --corpus corpus --quiet --folder astray >out 2>err
expect "status without the teacher" 2 $?
expect "message without the teacher" 1 "$(grep -c 'the model teacher is nowhere/seed-1/model, where no model.safetensors is' err)"
expect "folders without the teacher" "" "$(find . -name astray -type d)"
"$program" study astray.yaml --corpus corpus --dry-run >out 2>err
expect "status of a dry run without the teacher" 0 $?
expect "message of a dry run without the teacher" 1 "$(grep -c '^dragoman: warning: study astray: the model teacher is nowhere/seed-1/model' err)"
sed 's,whole/base/seed-1,studies/first/base/seed-1,' taught.yaml >astray.yaml
"$program" study astray.yaml --corpus corpus --quiet --folder astray >out 2>err
expect "message without the model of another study" 1 "$(grep -c 'no model.safetensors is; it is of the study first, run that first' err)"
sed 's,reverse-model: teacher,reverse-model: taecher,' taught.yaml >astray.yaml
"$program" study astray.yaml --corpus corpus --quiet --folder astray >out 2>err
expect "message with a reverse model that is no name" 1 "$(grep -c -- '--reverse-model is taecher, but no stage that trains, .* models: teacher, model; did you mean "teacher"' err)"
# What a command refuses is to be corrected before it goes on.
echo word >terms.tsv
sed 's,reverse-model: teacher,terms: terms.tsv,' taught.yaml >terms.yaml
"$program" study terms.yaml --corpus corpus --quiet --folder terms >out 2>err
expect "status with terms that have no translation" 65 $?
expect "what it says of a step that needs other files" 1 "$(grep -c 'stopped in student, seed 1; correct the option, file or text that the error names, then run the same command to go on$' err)"
cp -r whole/dropout-0/seed-1/model other
"$program" study taught.yaml --corpus corpus --quiet --folder taught --set t=1 >out 2>err  # t is no option
expect "status of an unknown change" 2 $?
sed 's,whole/base/seed-1/model,other,' taught.yaml >other.yaml
"$program" study other.yaml --corpus corpus --quiet --folder taught >out 2>err
expect "status with another teacher in the same folder" 2 $?
expect "what it says of another teacher" 1 "$(grep -c 'is a study of another model than other (teacher); name another --folder' err)"

# Killed again and again, each time a little later than the time before.
ended=no
for ((kills = 0; kills < 40; kills++)); do
  setsid "${study[@]}" --folder killed >out 2>err &
  pid=$!
  sleep "0.$((kills % 9 + 1))"
  [ $((kills % 3)) != 2 ] || sleep 0.7
  kill -9 $pid 2>/dev/null
  if wait $pid 2>/dev/null; then
    ended=yes
    break
  fi
  for ((tries = 0; tries < 100; tries++)); do  # the training dies a moment later, and until then its folder is in use
    kill -0 -- -$pid 2>/dev/null || break
    sleep 0.05
  done
  ! kill -0 -- -$pid 2>/dev/null || expect "processes that outlive the study" none "some after kill $kills"
done
[ $ended = yes ] || "${study[@]}" --folder killed >out 2>err
expect "status after $kills kills" 0 $? || cat err
expect "kills" 1 $((kills > 2))
expect "results after $kills kills" "" "$(diff whole/results.json killed/results.json | head -20)"
without_times() {  # of the report: the last three columns of the table of trainings, the tables of speeds and of the run
  awk -F '|' '/^Trainings/ { inside = 1 } /^Going through|^What it ran on/ { skip = 1 } /^## / { inside = skip = 0 } skip { next } inside && NF > 2 { NF -= 4 } { print }' "$1"
}
expect "report after kills" "" "$(diff <(without_times whole/report.md) <(without_times killed/report.md) | head -20)"
for model in base/seed-1/both base/seed-1/model dropout-0/seed-2/model; do
  cmp whole/$model/model.safetensors killed/$model/model.safetensors || failed=1
done
expect "texts after kills" "" "$(diff <(cd whole && cat ./*/*/*.txt) <(cd killed && cat ./*/*/*.txt) | head -5)"

# A signal to the study alone lets the training save.
for signal in TERM:143 INT:130; do
  folder=ended-${signal%:*}
  setsid "${study[@]}" --folder "$folder" --rows base --seeds 1 --set updates=100000 --set log-every=1 >out 2>err &
  pid=$!
  for ((tries = 0; tries < 300; tries++)); do
    ! grep -q '"kind":"train"' "$folder/base/seed-1/both/metrics.jsonl" 2>/dev/null || break
    sleep 0.1
  done
  kill "-${signal%:*}" $pid
  wait $pid
  expect "status after $signal" "${signal#*:}" $?
  expect "what it says after $signal" 1 "$(grep -c 'stopped in base, seed 1; run the same command to go on' err)"
  [ -n "$(find "$folder" -path '*/both/checkpoints/step-*' -name model.safetensors)" ] || expect "a checkpoint after $signal" some none
done

# Encoders: labels and tags, from scratch and from another encoder, with a share of the text for validation.
encoder() {  # TASK METRICS TEXT TEST
  cat >"$1.yaml" <<END
texts: {text: $3}
tests: {test: {text: $4}}
score: {metrics: [$2], minutes: [5], reach: smooth}
options:
  preset: bert-mini
  task: $1
  valid-share: 0.2
  layers: 1
  d-model: 16
  d-ff: 16
  n-heads: 1
  vocab-size: 40
  workers: 1
  batch-tokens: 200
  max-steps: 40
  learning-rate: 0.01
  warmup-steps: 5
  validate-every: 20
rows:
  plain:
  smooth: {label-smoothing: 0.1, about: "n"}
  $5
END
  "$program" study "$1.yaml" --corpus corpus --folder "$1" --quiet >"$1.out" 2>err
  expect "status of a study of $1" 0 $? || cat err
}
encoder classify "accuracy, macro-f1" train.tsv test.tsv ""
expect "scores of labels" 2 "$(grep -cE '^\| (plain|smooth) \| 1 \| [0-9.]+ \| [0-9.]+ \| (-|--label-smoothing=0.1) \|$' classify.out)"
expect "names of the metrics" 1 "$(grep -c '| seeds | accuracy, test | macro-F1, test |' classify.out)"
expect "a conclusion on labels" 1 "$(grep -cE '^- smooth .* accuracy on test, seeds: 1, p [=<] ' classify.out)"
expect "scores after minutes" 2 "$(awk '/^On the validation text/ { inside = 1 } /^## / { inside = 0 } inside' classify.out | grep -cE '^\| (plain|smooth) \| n/a \| ([0-9.]+|n/a) \|$')"  # they end before
expect "what n/a means" 1 "$(grep -c '^n/a: the training of a seed ended before' classify.out)"
sed 's/max-steps: 40/max-steps: 1000000\n  total-minutes: 0.02/; s/minutes: \[5\]/minutes: [5, 0.02]/; s/validate-every: 20/validate-every: 1000000/' \
  classify.yaml >timed.yaml
"$program" study timed.yaml --corpus corpus --rows plain --quiet >timed.out 2>err
expect "status of a study by time" 0 $? || cat err
expect "what is not known of later minutes, and what is at the end" 1 "$(grep -cE '^\| plain \| n/a \| [0-9.]+ \|' timed.out)"
sed 's/{text: train.tsv}/{text: {file: train.tsv, column: 3}}/' classify.yaml >column.yaml
"$program" study column.yaml --corpus corpus --rows plain --quiet >out 2>err
expect "status of a study of a column that is missing" 65 $?
expect "what it says" 1 "$(grep -c 'train.tsv:1: has 2 columns, the study wants column 3' err)"
accuracy=$("$program" evaluate --metrics accuracy --hypothesis classify/plain/seed-1/test.default.txt --reference corpus/test.tsv --json | grep -oE '"score": [0-9.]+' | grep -oE '[0-9.]+')
[ -n "$accuracy" ] || expect "an accuracy of evaluate" some none
expect "the accuracy is that of evaluate" 1 "$(grep -cE "^\| plain \| 1 \| $accuracy" classify.out)"
mkdir text  # no text, though the study has one of that name
for lines in 200 201; do  # of the 200 that there are
  sed "s/{text: train.tsv}/{text: {file: train.tsv, lines: $lines}}/" classify.yaml >few.yaml
  "$program" study few.yaml --corpus corpus --rows plain --folder "few-$lines" --quiet >out 2>err
  expect "status with $lines lines" $((lines == 200 ? 0 : 2)) $? || cat err
done
expect "what it says of lines that are not there" 1 "$(grep -c 'has 200 lines, the study wants its first 201' err)"
expect "the model of all lines" "" "$(diff few-200/results.json classify/results.json | grep '^< .*"accuracy"')"
sed 's/macro-f1/f1/' classify.yaml >positive.yaml
"$program" study positive.yaml --corpus corpus --dry-run >out 2>err
expect "status with a positive label that no test has" 65 $?
expect "what it says of that label" 1 "$(grep -c 'no line has the label "1", whose F1 is asked for' err)"
sed -i 's/lines: 201/lines: 150/' few.yaml
"$program" study few.yaml --corpus corpus --rows plain --folder few-200 >out 2>err
expect "status with other lines in the same folder" 2 $?
expect "what it says of other lines" 1 "$(grep -c 'is a study of another text' err)"
sed 's/{text: test.tsv}/{text: test.en}/' classify.yaml >unlabelled.yaml
"$program" study unlabelled.yaml --corpus corpus --dry-run >out 2>err
expect "status with a test without labels" 65 $?
expect "what it says of a test without labels" 1 "$(grep -c 'corpus/test.en:1' err)"
encoder tag "span-f1, tag-accuracy" train.tags test.tags "start: {initial-model: classify/plain/seed-1/model}"
expect "scores of tags" 3 "$(grep -cE '^\| (plain|smooth|start) \| 1 \| [0-9.]+ \| [0-9.]+ \| .* \|$' tag.out)"
expect "a row that starts from a model" 1 "$(grep -c 'initial-model=classify/plain/seed-1/model' tag.out)"
wrong_encoder() {  # WHAT_IT_SAYS SED_OF_THE_FILE
  sed "$2" tag.yaml >wrong.yaml
  "$program" study wrong.yaml --corpus corpus --folder wrong >out 2>err
  expect "status where $1" 2 $?
  expect "message \"$(cat err)\" with $1" 1 "$(grep -cF -- "$1" err)"
}
wrong_encoder 'metrics must be of translations, of labels or of tags, and of one kind' 's/span-f1/accuracy/'
wrong_encoder 'the metrics are of labels, which task classify writes; the task is tag' 's/span-f1, tag-accuracy/accuracy/'
wrong_encoder 'test test is a text with labels or tags; name their metrics under score' 's/metrics: .span-f1, tag-accuracy.,//'
wrong_encoder 'needs a source and a target, or a text alone' 's/{test: {text: test.tags}}/{test: {source: test.en, text: test.tags}}/'
wrong_encoder 'the trainings read one text' 's/{test: {text: test.tags}}/{test: {source: test.en, target: test.de}}/'
wrong_encoder 'lowercase would change labels and tags' 's/^rows:/lowercase: true\nrows:/'
wrong_encoder 'no row is called "smoth"; rows: plain, smooth, start; did you mean "smooth"?' 's/reach: smooth/reach: smoth/'
sed 's/{text: test.tags}/{text: words.tags}/' tag.yaml >untagged.yaml
cut -f 1 corpus/test.tags >corpus/words.tags
"$program" study untagged.yaml --corpus corpus --dry-run >out 2>err
expect "status with a test without tags" 65 $?
expect "what it says of a test without tags" 1 "$(grep -c 'corpus/words.tags:1: has 1 column, must be a word and its tag' err)"
sed 's/train.tags/broken.tags/' tag.yaml >broken.yaml
sed '3s/.*/word/' corpus/train.tags >corpus/broken.tags
"$program" study broken.yaml --corpus corpus --folder wrong --dry-run >out 2>err
expect "status with a line without a tag" 65 $?
expect "message \"$(cat err)\" of a line without a tag" 1 "$(grep -c 'stage model: .*broken.tags:3' err)"

# Selection, changes, and what is refused.
"${study[@]}" --folder chosen --rows base --seeds 7 --set updates=4 --set model.max-steps=5 >out 2>err
expect "status of a selection" 0 $? || cat err
expect "what is run" seed-7 "$(ls chosen/base)"
expect "updates of stages" "4 5" "$(for stage in both model; do
  grep '"kind":"checkpoint"' chosen/base/seed-7/$stage/metrics.jsonl | tail -1 | grep -o '"step":[0-9]*' | cut -d: -f2
done | paste -sd ' ')"
refuse() {  # WHAT_IT_SAYS SED_OF_THE_FILE [OPTION...]
  sed "$2" trial.yaml >wrong.yaml
  "$program" study wrong.yaml --corpus corpus --folder wrong "${@:3}" >out 2>err
  expect "status where $1" 2 $?
  expect "message \"$(cat err)\" with $1" 1 "$(grep -cF -- "$1" err)"
  expect "a folder where $1" "" "$(find . -name wrong -type d)"
}
refuse 'wrong.yaml: line 14: unknown key "d-modle"; did you mean "d-model"?' 's/d-model/d-modle/'
refuse 'wrong.yaml: line 1: unknown key "titel"; did you mean "title"?' 's/^title/titel/'
refuse 'must be a number' 's/dropout: 0,/dropout: much,/'
refuse 'which is neither given nor made by an earlier stage' 's/backward\]/sideward]/'
refuse 'names the variable "form"' 's/val.{from}/val.{form}/'
refuse 'which is not there; --corpus DIR' 's/test.de/nothing.de/'
refuse 'must be train, translate, distill, back-translate or filter' 's/do: distill/do: distil/'
refuse 'row dropout-0, stage both: --d-model is 15, must be a multiple of --n-heads (2)' 's/dropout: 0,/n-heads: 2, d-model: 15,/'
refuse 'no row is called "bases"; rows: base, dropout-0; did you mean "base"?' '' --rows bases
refuse 'no option of that name; did you mean "dropout"?' '' --set dropuot=0.1
refuse 'must be NAME=VALUE' '' --set dropout
refuse 'no variable and no option of that name; did you mean "from"?' '' --set form=de
refuse 'no stage is called forwerd; stages: both, forward, backward, near, model; did you mean "forward"?' '' --set forwerd.beam-size=2
refuse 'wrong.yaml: line 30: stage near (filter) needs keep, the share of the pairs that stay' 's/, keep: 0.5//'
refuse 'wrong.yaml: line 25: source is no option here; texts are named under texts, for all rows' 's/dropout: 0,/source: train.en,/'
refuse 'wrong.yaml: line 25: model is no option here; models are named under models' 's/dropout: 0,/model: other,/'
refuse 'wrong.yaml: line 25: seed is no option here; seeds are named under seeds' 's/dropout: 0,/seed: 3,/'
refuse 'wrong.yaml: line 21: row dropout-0, stage both: --n-heads does not belong to a model of architecture recurrent; leave it out' 's/^  preset: tiny/  preset: gru-mini/; /^  .*coder-layers: 1\|^  d-ff: 16\|^  n-heads: 1/d; s/dropout: 0,/n-heads: 2,/'
refuse 'wrong.yaml: line 24: row base, stage both: --encoder-layers does not belong to a model of architecture recurrent; its option is --layers' 's/^  preset: tiny/  preset: gru-mini/'
refuse 'architecture convolutional; its options are --decoder-layers and --encoder-layers' 's/^  preset: tiny/  preset: conv-mini/; /^  d-ff: 16\|^  n-heads: 1/d; s/dropout: 0,/layers: 3,/'
refuse 'wrong.yaml: line 25: optimizer is "adamw", must be adam or muon; AdamW is adam with --weight-decay 0.1 --decayed matrices' 's/dropout: 0,/optimizer: adamw,/'
refuse '--measure goes with --dry-run' '' --measure 5
refuse 'unknown key "share"' 's/do: distill,/do: distill, share: 0.5,/'
refuse 'the stage forward needs do: train, translate' 's/forward: {do: distill,/forward: {/'
refuse '--beam-size is 0' 's/paper: {beam-size: 4}/paper: {beam-size: 0}/'
refuse 'the seed 2 is given twice' 's/seeds: .1, 2./seeds: [2, 2]/'
refuse '--seeds names 3 twice' '' --seeds 3,3
refuse 'a file of each study and the row texts would both be texts; rename one' 's/dropout-0: /texts: /'
refuse 'would both be search-paper.json; rename one' 's/near\b/search-paper/g'
refuse 'has 12 lines' 's/test: {source: test.en,/test: {source: test_2016_flickr.en,/'
refuse "metrics: 'blue' is not known" 's/^searches/score: {metrics: [blue]}\nsearches/'
refuse 'stage model starts from both, which decides --d-model; leave it out' 's/options: {learning-rate: 0.001}/options: {d-model: 32}/'
refuse 'study wrong: row base, stage both has a share of the time, so total-minutes must be given' 's/both: {do: train,/both: {do: train, share: 0.5,/'
refuse 'the search paper gives nbest' 's/paper: {beam-size: 4}/paper: {beam-size: 4, nbest: 2}/'
refuse 'row dropout-0 changes --d-model, but each training starts from weights that decide it' 's/  both: .*//; s/start-from: both/start-from: given/; s/teacher: both/teacher: given/; s/model: both/model: given/; s/dropout: 0, paper/d-model: 32, paper/; s/^seeds/models: {given: other}\nseeds/'
refuse 'has 2 documents' '$a ---\na: 1'
refuse 'the trainings translate; name metrics of translations' 's/^seeds/score: {metrics: [accuracy]}\nseeds/; /^searches/,$d'
refuse 'dropout is given a second time; keep one' 's/dropout: 0,/dropout: 0, dropout: 0.1,/'
refuse 'row dropout-0, stage forward: --beam-size is 0' 's/dropout: 0,/forward: {beam-size: 0},/'
refuse 'row base, stage forward: --beam-size is 0' '' --set forward.beam-size=0
refuse 'stage forward: source has 200 lines, valid-target 8' 's/nearest-to: target, options/nearest-to: valid-target, options/'
refuse '--vocab-type is byte-bpe, which task translation does not learn; choose one of unigram, bpe' 's/dropout: 0,/vocab-type: byte-bpe,/' --dry-run
refuse '--metric accuracy is not measured by task translation; choose bleu, chrf, loss' 's/dropout: 0,/metric: accuracy,/' --dry-run
refuse '--valid-share takes validation text from --text' 's/dropout: 0,/valid-share: 0.1,/' --dry-run
refuse 'study wrong: search paper: --terms is nothing.tsv, which is not there' 's/paper: {beam-size: 4}/paper: {terms: nothing.tsv}/'
refuse 'the initial model of row dropout-0 is nowhere, where no model.safetensors is' 's/dropout: 0,/initial-model: nowhere,/'
# What would fail after trainings, or would have no effect.
refuse 'wrong.yaml: line 28: row base, stage forward: --nbest is 8, must be 1 to --beam-size (4)' 's/nbest: 4}}/nbest: 8}}/'
refuse 'row base, stage forward: --nbest is 4, but the text is one translation of each line' 's/nearest-to: target, options/options/'
refuse 'wrong.yaml: the search reverse: --beam-size is 1, but --reverse-model chooses' 's/reverse-weight: 0.1/beam-size: 1/' --dry-run
refuse '--reverse-weight is 0, so --reverse-model would do nothing' 's/reverse-weight: 0.1/reverse-weight: 0/'
refuse 'the search paper: --shortlist is on, but a study makes no shortlist for the model of stage model' 's/paper: {beam-size: 4}/paper: {shortlist: true}/'
refuse 'stage forward: --shortlist is on, but a study makes no shortlist for the model of stage both' 's/nbest: 4}}/nbest: 4, shortlist: true}}/'
without_attention='s/^  preset: tiny/  preset: gru-mini/; /^  .*coder-layers: 1\|^  d-ff: 16\|^  n-heads: 1/d; s/dropout: 0,/attention: none,/'
refuse 'wrong.yaml: line 21: row dropout-0: the search paper gives --coverage-penalty, but the model of stage model has no attention to the source' "$without_attention; s/paper: {beam-size: 4}/paper: {coverage-penalty: 0.2}/" --dry-run
refuse 'row dropout-0: stage forward gives --coverage-penalty, but the model of stage both has no attention' "$without_attention; s/nbest: 4}}/nbest: 4, coverage-penalty: 0.2}}/" --dry-run
refuse 'wrong.yaml: line 30: stage near keeps 0.002 of 200 lines, which is none; keep more' 's/keep: 0.5/keep: 0.002/' --dry-run
refuse 'stage model trains from target to source, but its model is tested on the validation text' 's/source: .source, near.source, backward./source: target/; s/target: .target, near.target, target./target: source/'
refuse 'wrong.yaml: line 28: stage forward translates from source to target by both, which learns the other direction alone' 's/source: .source, target., target: .target, source./source: target, target: source/'
refuse 'wrong.yaml: line 29: stage backward translates from target to source by both, which learns the other direction alone' 's/source: .source, target., target: .target, source./source: source, target: target/'
# Lines of stages and rows.
refuse 'wrong.yaml: line 32: stage model uses the text "sideward"' 's/backward\]/sideward]/'
refuse 'line 28: stage forward uses the model "model", which a later stage makes' 's/teacher: both/teacher: model/'
refuse 'line 32: stage model uses the model "forward", which is no model; each model before this stage: both' 's/start-from: both/start-from: forward/'
refuse 'line 29: two things are called "target": the stage target and a text; rename one' 's/  backward: /  target: /'
refuse 'line 32: the shares of the stages up to model are 1.4 together, must be 1 or less' 's/both: {do: train,/both: {do: train, share: 0.7,/; s/    start-from: both/&\n    share: 0.7/'
refuse 'line 25: row dropout-0 changes the stage "bothe", which the study has not; stages: both, forward, backward, near, model; did you mean "both"?' 's/dropout: 0,/bothe: {dropout: 0},/'
refuse 'stage near has a model and nearest-to; keep one' 's/near: {do: filter,/near: {do: filter, model: both,/'
refuse 'a seed is "-1", must be a whole number from 0 to 18446744073709551615' 's/seeds: .1, 2./seeds: [-1]/'
refuse 'tokenize is "13b", must be one of 13a, ' 's/^searches/score: {tokenize: 13b}\nsearches/'
refuse '"{to}" names the variable "to", which stands later; a variable may name those before it' 's/{from: en, updates: 12}/{from: "{to}", to: en, updates: 12}/'
refuse '--set from: "{form}" names the variable "form", which is not under variables' '' --set 'from={form}'
refuse '"val.{from" has a { without a }' 's/val.{from}/val.{from/'
refuse 'may have letters a to z and A to Z, digits, and - _ . inside' 's/  dropout-0: /  dropouté: /'
refuse 'wrong.yaml: line 10: the indentation has a tab; YAML takes blanks alone' 's/^  preset: tiny/\tpreset: tiny/'
refuse 'dropout is "0,1", must be a number; write 0.1, with a point' 's/^  d-model: 16/  dropout: 0,1/'
refuse 'line 25: "1" has no value; if it is a part of a number, write the number with a point' 's/dropout: 0,/dropout: 0,1,/'
"${study[@]}" --folder whole --set dropout=0.2 >out 2>err
expect "status with other options in the same folder" 2 $?
expect "what it says of other options" 1 "$(grep -c 'both was done with other options: dropout was not given, is 0.2; give the old ones back, name another --folder, or remove whole/base/seed-1$' err)"
# Tests that change are translated and scored again; rows that are not run again are named.
sed 's/test.en, target: test.de, join: 2/val.en, target: val.de/' trial.yaml >tests.yaml
"$program" study tests.yaml --corpus corpus --quiet --folder whole --rows base >out 2>err
expect "status with another test" 0 $? || cat err
expect "lines of another test" 8 "$(wc -l <whole/base/seed-1/long.paper.txt)"
expect "rows that are not shown" 1 "$(grep -c 'done with other options or tests: dropout-0, seed 1; dropout-0, seed 2' out)"
expect "trainings with another test" "$before" "$(find whole -name metrics.jsonl -exec stat -c %Y.%s {} +)"
rm whole/base/seed-1/long.paper.txt
"$program" study tests.yaml --corpus corpus --quiet --folder whole --rows base >again 2>err
expect "the report after a lost translation" "" "$(diff <(without_times out) <(without_times again))"
# A source and a target of one name.
mkdir -p corpus/s corpus/t
cp corpus/test.en corpus/s/test.txt
cp corpus/test.de corpus/t/test.txt
sed 's,test: {source: test.en\, target: test.de},test: {source: s/test.txt\, target: t/test.txt},' trial.yaml >names.yaml
"$program" study names.yaml --corpus corpus --quiet --folder whole --seeds 1 --rows base >out 2>err
expect "status with one name for both sides" 0 $? || cat err
expect "the side of the source" "" "$(diff <(tr A a <corpus/test.en) whole/tests/test.source.test.txt)"
expect "the side of the target" "" "$(diff <(tr A a <corpus/test.de) whole/tests/test.target.test.txt)"
"$program" study trial.yaml --corpus corpus --dry-run --measure 1 --rows base >out 2>err
expect "status of a measured dry run" 0 $? || cat err
expect "a predicted time" 1 "$(grep -cE '^\| base \| 2 \| [0-9]+ s \|' out)"

# A variable that is made of another.
sed 's/variables: {from: en, updates: 12}/variables: {from: en, n: 12, updates: "{n}"}/' trial.yaml >variables.yaml
"$program" study variables.yaml --corpus corpus --quiet --folder variables --set n=3 --rows base --seeds 1 >out 2>err
expect "status with a variable made of another" 0 $? || cat err
expect "its value" 1 "$(grep -c -- '--max-steps=3' out)"

# The paper's setting, to its end, with models of a few weights.
"$program" study "$root/configs/studies/wmt14.yaml" --corpus corpus --quiet --folder paper --set vocabulary=24 --set max-steps=4 \
  --set validate-every=2 --set encoder-layers=1 --set decoder-layers=1 --set d-model=16 --set d-ff=16 --set n-heads=1 \
  --set batch-tokens=400 --set workers=1 --set dropout=0.1 >out 2>err
expect "status of the paper's setting" 0 $? || cat err
expect "the difference that the paper has" 1 "$(grep -c '^| big | test | 1 |.*| +1.1 |' out)"

# Losses of language models: with other pieces, and without a validation text, they do not compare.
cat >losses.yaml <<'END'
texts: {text: train.en, valid-text: val.en}
score: {minutes: [5]}
seeds: [1, 2]
options: {preset: gpt-mini, vocab-type: bpe, vocab-size: 24, layers: 1, d-model: 16, d-ff: 16, n-heads: 1, max-positions: 16, max-length: 16, workers: 1, batch-tokens: 200, max-steps: 4, validate-every: 2}
rows:
  plain:
  dropout: {dropout: 0.1}
  characters: {vocab-type: characters}
END
cp "$program" replaced
./replaced study losses.yaml --corpus corpus --folder losses >out 2>err &
pid=$!
for ((tries = 0; tries < 300; tries++)); do
  ! [ -e losses/plain/seed-1/model ] || break
  sleep 0.05
done
cp "$program" newer && mv newer replaced  # an upgrade while the study runs
wait $pid
expect "status of a study whose program is replaced" 0 $? || cat err
expect "rows that are compared" 1 "$(grep -cE '^- .* (better|worse|undecided)' out)"
expect "rows that are not" 1 "$(grep -c '^- Not compared by loss, .*: characters' out)"
expect "losses after minutes of trainings that end before" 3 "$(awk '/^On the validation text/ { inside = 1 } /^## / { inside = 0 } inside' out | grep -cE '^\| (plain|dropout|characters) \| n/a \|$')"
./replaced study losses.yaml --corpus corpus --folder losses --baseline dropout --rows plain >out 2>err
expect "status with another baseline" 0 $? || cat err
expect "tables against it, and against the file's" "1 0" "$(grep -c '^Against dropout' out) $(grep -c '^Against plain' out)"
./replaced study losses.yaml --corpus corpus --folder losses --baseline dropuot >out 2>err
expect "status with a baseline that is no row" 2 $?
expect "what it says" 1 "$(grep -c 'no row is called "dropuot"; rows: plain, dropout, characters; did you mean "dropout"' err)"
sed 's/vocab-type: bpe, vocab-size: 24, //; s/^rows:/&\n  later: {tokenizer: not-yet.spm}/' losses.yaml >later.yaml
"$program" study later.yaml --corpus corpus --folder later --dry-run --rows plain >out 2>err
expect "status where a row that is not run names a file that is not there" 0 $? || cat err
"$program" study later.yaml --corpus corpus --folder later --rows plain,later >out 2>err
expect "status where a row that is run does" 2 $?
expect "what it says" 1 "$(grep -c 'row later, stage model: --tokenizer is not-yet.spm, which is not there' err)"
# A stage on text before one that translates.
cat >two-kinds.yaml <<'END'
texts: {text: train.en, source: train.en, target: train.de, valid-source: val.en, valid-target: val.de}
options: {preset: t5-mini, task: translation}
stages:
  spans: {do: train, text: text, options: {task: span-corruption}}
  model: {do: train, source: source, target: target, start-from: spans}
rows: {plain: {}}
END
"$program" study two-kinds.yaml --corpus corpus --dry-run >out 2>err
expect "status of a stage on text before one that translates" 0 $? || cat err
sed 's/, valid-text: val.en//' losses.yaml >blind.yaml
"$program" study blind.yaml --corpus corpus --folder blind --quiet --rows plain,dropout >out 2>err
expect "status without a validation text" 0 $? || cat err
expect "rows without a loss" 1 "$(grep -c '^- Not compared by loss, .*: dropout' out)"
expect "differences that are no numbers" 0 "$(grep -c nan out)"

# Without tuning a model is as if it had never been tuned.
cat >tuned.yaml <<'END'
texts: {source: train.en, target: train.de, valid-source: val.en, valid-target: val.de}
tests: {test: {source: test.en, target: test.de}}
tune: true
options: {preset: tiny, vocab-size: 24, encoder-layers: 1, decoder-layers: 1, d-model: 16, d-ff: 16, n-heads: 1, workers: 1, batch-tokens: 400, max-steps: 4}
rows: {plain: {}}
END
for tune in true false; do
  sed "s/tune: true/tune: $tune/" tuned.yaml >again.yaml
  "$program" study again.yaml --corpus corpus --folder tuned --quiet >out 2>err
  expect "status with tune: $tune" 0 $? || cat err
  expect "tuned settings with tune: $tune" $tune "$([ -e tuned/plain/seed-1/model/decoding.json ] && echo true || echo false)"
done
"$program" study tuned.yaml --corpus corpus --folder tuned --quiet >out 2>err
expect "status of a model that is tuned again" 0 $? || cat err
expect "what tuning chose, in the report" 1 "$(awk '/^Searches that were tuned/ { inside = 1 } /^## / { inside = 0 } inside' out | grep -cE '^\| plain \| 1 \| [0-9]+ \| gnmt \| [0-9.]+ \|$')"
expect "what tuning chose, in the results" 1 "$(grep -c '"beam_size"' tuned/results.json)"
expect "signatures of two metrics" 1 "$(grep -c '^BLEU|nrefs:1|.*; chrF2|nrefs:1|' out)"
"$program" inspect --model tuned/plain/seed-1/model --verify >out 2>err
expect "status of a model that was tuned" 0 $? || cat err

[ $failed = 0 ] && echo "study: as it should be"
exit $failed
