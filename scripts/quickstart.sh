#!/bin/bash
# From nothing to a trained translation model in about ten minutes: installs what is needed, builds Release, makes
# the embedded sample corpus, trains a small Transformer on it, translates sentences it has never seen, prints BLEU,
# chrF and how often the pronoun is right, and writes a report to open in a browser.
#   scripts/quickstart.sh [FOLDER [PAIR]]     default: quickstart/ en-de. PAIR is en-de, en-zh or zh-en.
# A second run resumes or repeats what is missing.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
cd "$(dirname "$0")/.."

folder="${1:-quickstart}"
pair="${2:-en-de}"
source="${pair%-*}"
target="${pair#*-}"
corpus="$folder/corpus"
model="$folder/model"

step() { printf '\n== %s\n' "$*"; }

step "installing what is needed (Debian packages)"
scripts/install_dependencies.sh

step "building the program (Release, in build/)"
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release >"${TMPDIR:-/tmp}/dragoman-configure.log" ||
  { cat "${TMPDIR:-/tmp}/dragoman-configure.log"; exit 1; }
cmake --build build --target dragoman

step "making the sample corpus: only the meaning tells what a pronoun stands for"
mkdir -p "$folder"
build/dragoman sample-corpus --pair "$pair" --seed 1 --output "$corpus"

step "training"
build/dragoman train --config configs/quickstart.yaml --model "$model" \
  --source "$corpus/train.$source" --target "$corpus/train.$target" \
  --valid-source "$corpus/valid.$source" --valid-target "$corpus/valid.$target"

step "translating the test sentences"
hypothesis="$folder/test.hypothesis.$target"
build/dragoman translate --model "$model" --input "$corpus/test.$source" --output "$hypothesis"
# The test part begins with the well-known example: the animal is too tired, the street is too wide.
head -n 2 "$corpus/test.$source" | build/dragoman translate --model "$model" |
  paste -d '\n' <(head -n 2 "$corpus/test.$source") -

step "scores on the test part"
build/dragoman evaluate --hypothesis "$hypothesis" --reference "$corpus/test.$target" --metrics bleu,chrf
build/dragoman sample-corpus --check "$hypothesis" --output "$corpus"

step "what the model looks at"
from=()
[ "$source" = zh ] || from=(--from it)  # Chinese leaves the pronoun out
build/dragoman attention --model "$model" --text "$(head -n 1 "$corpus/test.$source")" "${from[@]}" \
  --output "$folder/attention.html"

step "done"
echo "open in a browser:   $model/report.html   (learning curves, translations over time)"
echo "                     $folder/attention.html   (attention of every layer and head)"
echo "translate yourself:  build/dragoman translate --model $model"
echo "serve it over HTTP:  build/dragoman serve --model $model"
echo "train on real text:  see README.md, 'Real text'"
