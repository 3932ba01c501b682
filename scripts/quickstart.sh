#!/bin/bash
# From nothing to a trained translation model in about five minutes: installs what is needed, builds Release, makes
# the embedded sample corpus, trains a small Transformer on it, translates sentences it has never seen, prints BLEU,
# chrF and how often the German pronoun is right, and writes a report to open in a browser.
#   scripts/quickstart.sh [FOLDER]     default: quickstart/. A second run resumes or repeats what is missing.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
cd "$(dirname "$0")/.."

folder="${1:-quickstart}"
corpus="$folder/corpus"
model="$folder/model"

step() { printf '\n== %s\n' "$*"; }

step "installing what is needed (Debian packages)"
scripts/install_dependencies.sh

step "building the program (Release, in build/)"
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release >"${TMPDIR:-/tmp}/dragoman-configure.log" ||
  { cat "${TMPDIR:-/tmp}/dragoman-configure.log"; exit 1; }
cmake --build build --target dragoman

step "making the sample corpus: 'it' is er, sie or es, and only the meaning tells which"
mkdir -p "$folder"
build/dragoman sample-corpus --pair en-de --seed 1 --output "$corpus"

step "training"
build/dragoman train --config configs/quickstart.yaml --model "$model" \
  --source "$corpus/train.en" --target "$corpus/train.de" \
  --valid-source "$corpus/valid.en" --valid-target "$corpus/valid.de"

step "translating the test sentences"
build/dragoman translate --model "$model" --input "$corpus/test.en" --output "$folder/test.hypothesis.de"
sentence="The animal didn't cross the street because it was too tired."
other="The animal didn't cross the street because it was too wide."
printf '%s\n%s\n' "$sentence" "$other" | build/dragoman translate --model "$model" |
  paste -d '\n' <(printf '%s\n%s\n' "$sentence" "$other") -

step "scores on the test part"
build/dragoman evaluate --hypothesis "$folder/test.hypothesis.de" --reference "$corpus/test.de" --metrics bleu,chrf
build/dragoman sample-corpus --check "$folder/test.hypothesis.de" --output "$corpus"

step "what 'it' looks at"
build/dragoman attention --model "$model" --text "$sentence" --from it --output "$folder/attention.html"

step "done"
echo "open in a browser:   $model/report.html   (learning curves, translations over time)"
echo "                     $folder/attention.html   (attention of every layer and head, and from 'it')"
echo "translate yourself:  build/dragoman translate --model $model"
echo "serve it over HTTP:  build/dragoman serve --model $model"
echo "train on real text:  see README.md, 'Real text'"
