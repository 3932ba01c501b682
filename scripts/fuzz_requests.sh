#!/bin/bash
# Feeds the server's request parser with inputs that libFuzzer makes up, under AddressSanitizer and UBSan.
#   scripts/fuzz_requests.sh [RUNS [FOLDER]]    RUNS: inputs, 1,000,000 by default; FOLDER: keeps what was found,
#                                               build-fuzz/corpus by default
# Needs clang (Debian: apt-get install clang). Status other than 0 when an input breaks a rule; it is kept then.
set -euo pipefail
cd "$(dirname "$0")/.."
runs="${1:-1000000}"
corpus="${2:-build-fuzz/corpus}"
mkdir -p build-fuzz "$corpus"

# One input for each way a request can be made; the first byte sets the size of the pieces.
seed() { printf "$2" >"$corpus/seed-$1"; }
seed form '\377POST /translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 15\r\n\r\nq=%%C3%%A4+b&a=1&'
seed json '\011POST /t?a=b HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"q":["<p>a</p>",1]}'
seed chunks '\377POST /t HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\nGET / HTTP/1.0\r\n\r\n'
seed parts '\200POST /t HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 71\r\n\r\n--b\r\nContent-Disposition: form-data; name=q; filename="x"\r\n\r\ny\r\n--b--\r\n'

sources="tests/fuzz/request_fuzz.cpp src/serving/request_reader.cpp src/serving/request_head.cpp src/serving/http_message.cpp
src/serving/request_fields.cpp src/serving/multipart.cpp src/serving/html_plan.cpp src/serving/html_text.cpp
src/serving/html_tokens.cpp src/serving/inline_tags.cpp src/serving/sentences.cpp src/serving/tag_words.cpp src/serving/text_plan.cpp
src/base/json.cpp src/base/utf8.cpp"
# shellcheck disable=SC2086  # a list of files
clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Isrc $sources \
  -lfmt -licuuc -licui18n -o build-fuzz/request_fuzz
build-fuzz/request_fuzz -runs="$runs" -max_len=8192 -print_final_stats=1 -artifact_prefix=build-fuzz/ "$corpus"
