#!/bin/bash
# The scripts that take seconds, and the program, write the same bytes under LOCALE as under C.UTF-8.
#   tests/scripts/locales_test.sh PROGRAM ROOT LOCALE
# A locale that this machine has not got is compiled into a temporary folder. Status 77, that of skipped tests, where
# its source is missing too. The program trains a few updates.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
program=$(realpath "$1")
root=$(realpath "$2")
locale="$3"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

expect() {  # WHAT EXPECTED SEEN
  [ "$2" != "$3" ] || return 0
  printf '%s under %s: expected "%s", saw "%s"\n' "$1" "$locale" "$2" "$3"
  failed=1
}

there=()  # what a command needs in its environment to run under $locale
has_locale() { [ "$(env "${there[@]}" LC_ALL="$locale" locale -k LC_IDENTIFICATION 2>&1 >/dev/null)" = "" ]; }
if ! has_locale; then
  localedef -i "${locale%.*}" -f "${locale#*.}" "./$locale" 2>/dev/null || true
  there=("LOCPATH=$work")
  has_locale || { echo "skipped: no locale $locale, and no source of it (Debian: apt-get install locales)"; exit 77; }
fi

# Letters that tr_TR, byte-wise tools and German sorting treat in their own way.
mkdir corpus
for part in train:60 val:12 test_2016_flickr:12 test_2017_flickr:12; do
  awk -v n="${part#*:}" 'BEGIN { for (i = 1; i <= n; i++)
    print "In ISTANBUL I" i % 7, "Äpfel İÖ" i % 5, "ZIEL", "Straße 1,5 2.5", i }' >"corpus/${part%:*}.en"
  awk '{ print $4, $3, $2, $1, $5, "übrig", $7, $8 }' "corpus/${part%:*}.en" >"corpus/${part%:*}.de"
done
files=(--source corpus/train.en --target corpus/train.de --valid-source corpus/val.en --valid-target corpus/val.de)

by_scripts() {  # LOCALE
  local run=(env "${there[@]}" LC_ALL="$1")
  "${run[@]}" "$root/scripts/check_layers.sh" >layers
  "${run[@]}" "$root/tests/scripts/check_layers_test.sh" "$root" >layers_test
  "${run[@]}" "$root/tests/scripts/check_docs_test.sh" "$root" >docs_test
  "${run[@]}" "$root/scripts/install_dependencies.sh" --list >packages
}

by_program() {  # LOCALE
  local run=(env "${there[@]}" LC_ALL="$1" "$program")
  "${run[@]}" sample-corpus --pair en-de --seed 1 --size 100 --output sample
  "${run[@]}" evaluate --hypothesis corpus/test_2016_flickr.en --reference corpus/test_2016_flickr.de \
    --metrics bleu,chrf --confidence --json >scores.json
  "${run[@]}" evaluate --hypothesis corpus/test_2016_flickr.en --reference corpus/test_2016_flickr.de --lowercase \
    --smooth-method floor --smooth-value 0.25 --metrics bleu >scores.text
  printf '%s\n' 'dropout: 0.25' 'learning-rate: 2.5e-3' 'label-smoothing: 0.05' 'memory: 1.5GiB' >recipe.yaml
  "${run[@]}" train --config recipe.yaml --model model "${files[@]}" --preset tiny --vocab-size 80 \
    --encoder-layers 1 --decoder-layers 1 --d-model 16 --d-ff 16 --n-heads 1 --workers 1 --batch-tokens 400 \
    --max-steps 6 --log-every 1 --validate-every 3 --total-minutes 2.5 2>progress
  grep -o 'loss [0-9.,]*' progress >losses
  grep -o '"\(loss\|bleu\|perplexity\|learning_rate\)":[^,]*' model/metrics.jsonl >metrics
  "${run[@]}" translate --model model --input corpus/val.en --json --nbest 2 --alpha 0.5 >translations.json
  "${run[@]}" score --model model --source corpus/val.en --target corpus/val.de >model_scores
  "${run[@]}" attention --model model --text "In ISTANBUL" --output attention.html
  "${run[@]}" inspect --model model >inspected
  printf '%s\n' 'texts: {source: train.en, target: train.de, valid-source: val.en, valid-target: val.de}' \
    'lowercase: true' 'score: {tokenize: intl}' 'options: {preset: tiny, vocab-size: 80, encoder-layers: 1, decoder-layers: 1,' \
    '  d-model: 16, d-ff: 16, n-heads: 1, workers: 1, batch-tokens: 400, max-steps: 6, validate-every: 3}' \
    'rows: {base: {dropout: 0.25}, other: {label-smoothing: 0.05}}' \
    'stages: {first: {do: train, source: source, target: target}, text: {do: distill, teacher: first, source: source,' \
    '  nearest-to: target}, model: {do: train, source: source, target: text, start-from: first}}' >study.yaml
  "${run[@]}" study study.yaml --corpus corpus --folder study --quiet >study.out
  rm -r study/.lock study/*/*/model study/*/*/first study/*/*/*.seconds study/report.* study.out  # times and locks
  find model/.lock model/checkpoints model/report.html model/metrics.jsonl model/events* progress -delete 2>/dev/null || true
}

work_under() {  # FOLDER LOCALE
  mkdir "$1"
  cp -r corpus "$1"
  (cd "$1"; by_scripts "$2"; by_program "$2") >"$1.log" 2>&1 &  # beside, as `set -e` does nothing on the left of ||
  wait $! || { echo "a command failed under $2:"; tail -20 "$1.log"; exit 1; }
}

for script in "$root"/scripts/*.sh "$root"/tests/scripts/*.sh; do
  # scripts/test.sh hands the caller's locale to the tests.
  [ "$script" = "$root/scripts/test.sh" ] || grep -q '^export LC_ALL=C.UTF-8' "$script" || expect "${script#"$root/"}" \
    "a line export LC_ALL=C.UTF-8" "none"
done
work_under seen "$locale"
work_under expected C.UTF-8
expect "what is written" "" "$(diff -r expected seen | head -40)"
expect "capitals after lowercase" 0 "$(cat seen/study/texts/* | grep -c '[A-ZÄÖ]')"
expect "the small letter of I" 60 "$(grep -c 'in istanbul i[0-6]' seen/study/texts/source.train.en)"
[ $failed = 0 ] && echo "locales: the same bytes under $locale as under C.UTF-8"
exit $failed
