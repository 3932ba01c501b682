#!/bin/bash
# Feeds a reader with inputs that libFuzzer makes up, under AddressSanitizer and UBSan.
#   scripts/fuzz.sh [--keep] TARGET [RUNS]    TARGET: requests, markup, sentences, glossary, safetensors, config,
#                                             vocabulary_map, text, tokenizer, chat_template or completions; RUNS:
#                                             inputs, 1,000,000 by default
#   --keep   writes the fewest inputs that reach all that was reached to tests/fuzz/corpus/TARGET.txt, one a line in
#            hexadecimal; ctest calls the target with each of them
# Begins with that corpus. Needs clang (Debian: apt-get install clang). Status other than 0 when an input breaks a rule;
# it is kept in build-fuzz/.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
cd "$(dirname "$0")/.."

keep=''
[ "${1:-}" != --keep ] || { keep=yes; shift; }
target="${1:-}" runs="${2:-1000000}" longest=4096 more=''
base="src/base/*.cpp"
data=$(printf '%s ' src/data/vocabulary/*.cpp)
data=${data//src\/data\/vocabulary\/byte_bpe_trainer.cpp/}  # clang 14 cannot read the ranges of GCC 12 that it uses
chat="src/data/chat/*.cpp"
markup="src/serving/text/character_references.cpp src/serving/text/element_stack.cpp src/serving/text/html_*.cpp
  src/serving/text/inline_tags.cpp src/serving/text/languages.cpp src/serving/text/numbered_tags.cpp src/serving/text/sentence*.cpp
  src/serving/text/tag_words.cpp src/serving/text/text_plan*.cpp src/serving/text/xml_lexemes.cpp src/decoding/search/scripts.cpp"
case "$target" in
  requests)
    longest=8192
    more="src/serving/http/request_reader.cpp src/serving/http/request_head.cpp src/serving/http/http_message.cpp
      src/serving/http/request_fields.cpp src/serving/http/request_target.cpp src/serving/http/header_parameter.cpp
      src/serving/http/charset.cpp src/serving/http/multipart.cpp $markup" ;;
  markup | sentences)
    more="$markup" ;;
  glossary)
    more="src/serving/service/glossary_entries.cpp src/serving/http/http_message.cpp src/serving/http/charset.cpp
      src/serving/http/header_parameter.cpp $markup" ;;
  safetensors)
    more="src/tensor/safetensors.cpp src/tensor/safetensors_header.cpp src/tensor/tensor.cpp src/tensor/shape.cpp
      src/tensor/arena.cpp" ;;
  config)
    more="src/models/transformer/transformer_config.cpp src/decoding/search/search_defaults.cpp src/decoding/search/options.cpp
      src/interop/marian_config.cpp" ;;
  vocabulary_map)
    more="src/interop/marian_vocabulary.cpp src/interop/marian_config.cpp src/models/transformer/transformer_config.cpp $data" ;;
  text)
    longest=1024
    more="src/decoding/text_splitter.cpp src/data/text/text_file.cpp $data" ;;
  tokenizer)
    more="src/interop/sentencepiece_tokenizer.cpp $data" ;;
  chat_template)
    more="$chat" ;;
  completions)
    more="src/serving/routes/chat_request.cpp src/serving/routes/completion_request.cpp src/serving/routes/completion_fields.cpp
      src/serving/routes/openai_access.cpp" ;;
  *) echo "fuzz.sh: TARGET is '$target', must be requests, markup, sentences, glossary, safetensors, config, vocabulary_map, text, tokenizer, chat_template or completions" >&2; exit 2 ;;
esac

folder="build-fuzz/$target" kept="tests/fuzz/corpus/$target.txt"
mkdir -p "$folder" "$folder.least"
python3 - "$kept" "$folder" <<'PYTHON'
import hashlib, pathlib, sys
for line in pathlib.Path(sys.argv[1]).read_text().split():
    data = bytes.fromhex(line)
    (pathlib.Path(sys.argv[2]) / hashlib.sha1(data).hexdigest()).write_bytes(data)
PYTHON

# shellcheck disable=SC2046,SC2086  # lists of files and flags
clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Isrc -Itests \
  "tests/fuzz/${target}_fuzz.cpp" $base $more $(pkg-config --cflags --libs sentencepiece) -lsentencepiece_train \
  -lfmt -licuuc -licui18n -lexpat -lz -llzma -lzstd -lcrypto -lgtest -lpthread -o "build-fuzz/${target}_fuzz"
# SentencePiece keeps no frame pointers, so that a stack of its allocations is often a new one; to remember them all takes more
# time than all else after some 100,000 inputs. Where an input is found, run it again without this option.
ASAN_OPTIONS="malloc_context_size=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}" \
  "build-fuzz/${target}_fuzz" -runs="$runs" -max_len="$longest" -print_final_stats=1 -artifact_prefix=build-fuzz/ "$folder"

if [ -n "$keep" ]; then
  rm -f "$folder.least"/*
  "build-fuzz/${target}_fuzz" -merge=1 -max_len=512 "$folder.least" "$folder" 2>/dev/null
  python3 - "$folder.least" "$kept" <<'PYTHON'
import pathlib, sys
lines = sorted((path.read_bytes().hex() for path in pathlib.Path(sys.argv[1]).iterdir()), key=lambda line: (len(line), line))
pathlib.Path(sys.argv[2]).write_text("".join(line + "\n" for line in lines if line))
PYTHON
fi
