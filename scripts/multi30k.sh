#!/bin/bash
# Trains on Multi30k (Elliott et al. 2016) and scores test_2016_flickr and test_2017_flickr, one model a seed, each
# within an hour on two cores; see scripts/train_and_score.sh.
#   scripts/multi30k.sh [--corpus DIR] [--from en] [--to de] [--folder DIR] [--minutes N] [--diversify]
#       [--lowercase] SEED... [-- OPTION OF TRAIN...]
#   --corpus   holds train.en, train.de, val.en, ..., test_2017_flickr.de (default: multi30k); status 77 when not there
#   --folder   where models and results.md go (default: multi30k-FROM-TO)
#   --minutes, --diversify, --lowercase   as for train_and_score.sh
# BLEU is lower-cased and cased, on detokenised text cut by 13a; the signatures are printed.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes

corpus=multi30k from=en to=de folder='' rest=() train_options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --corpus | --from | --to | --folder)
      [ $# -gt 1 ] || { echo "multi30k.sh: $1 needs a value" >&2; exit 2; }
      case "$1" in --corpus) corpus="$2" ;; --from) from="$2" ;; --to) to="$2" ;; --folder) folder="$2" ;; esac
      shift 2 ;;
    --) shift; train_options=("$@"); break ;;
    *) rest+=("$1"); shift ;;
  esac
done
exec "$(dirname "$0")/train_and_score.sh" --folder "${folder:-multi30k-$from-$to}" \
  --source "$corpus/train.$from" --target "$corpus/train.$to" \
  --valid-source "$corpus/val.$from" --valid-target "$corpus/val.$to" \
  --test test_2016_flickr "$corpus/test_2016_flickr.$from" "$corpus/test_2016_flickr.$to" \
  --test test_2017_flickr "$corpus/test_2017_flickr.$from" "$corpus/test_2017_flickr.$to" \
  "${rest[@]}" -- "${train_options[@]}"
