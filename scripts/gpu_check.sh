#!/bin/sh
# Checks the kernels of NVIDIA GPUs on a card, also on a machine that has nothing but a driver and CUDA's libraries.
#   scripts/gpu_check.sh pack FOLDER [BUILD]   here: builds the programs in BUILD (build-gpu) and packs them with the
#                                              libraries they need, CUDA's excepted, and the stored runs of PyTorch into
#                                              FOLDER/gpu_check.tar.gz
#   scripts/gpu_check.sh run FOLDER [OUT]      there: unpacks, runs tests, compute-sanitizer and speeds; logs go to OUT
#   scripts/gpu_check.sh all                   both, on a machine with a card
# Environment of `pack`: GPU_CHECK_PROGRAMS, the programs to build; without dragoman, `train` is left out.
# `run` prints a table and ends with status 1 if a check failed. Environment of `run`: GPU_CHECK_STEPS, the checks to
# run (default: "facts ops decoding model golden c_api training family messages speed train serve sanitizer"; also:
# "profile"). The check `serve` needs `train` and python3.
set -eu
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
here=$(cd "$(dirname "$0")" && pwd)
programs=${GPU_CHECK_PROGRAMS:-"cuda_ops_test cuda_decoding_kernels_test cuda_model_test cuda_speed cuda_training_test cuda_family_test cuda_decoding_test cuda_decoders_test cuda_device_group_test cuda_c_api_test cuda_golden_transformer_test cuda_golden_language_model_test cuda_golden_encoder_test cuda_golden_recurrent_test cuda_golden_convolutional_test cuda_golden_batch_norm_test dragoman"}

pack() {
  folder=$1
  root=$(cd "$here/.." && pwd)
  build=${2:-"$root/build-gpu"}
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DDRAGOMAN_CUDA=ON -DDRAGOMAN_MPI=OFF >/dev/null
  # shellcheck disable=SC2086  # a list of words
  ninja -C "$build" $programs
  rm -rf "$folder/gpu_check"
  mkdir -p "$folder/gpu_check/lib"
  for program in $programs; do
    file=$(find "$build" -name "$program" -type f -perm -u+x | head -n 1)
    strip -o "$folder/gpu_check/$program" "$file"
    # The C library and the compiler's are there; newer ones run older programs.
    ldd "$file" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' |
      grep -vE '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*|libgcc_s|libstdc\+\+)\.so' |
      while read -r library; do cp -Ln "$library" "$folder/gpu_check/lib/" || true; done
  done
  mkdir "$folder/gpu_check/golden"
  cp "$root"/tests/golden/*.safetensors "$folder/gpu_check/golden/"
  tar -C "$folder" -czf "$folder/gpu_check.tar.gz" gpu_check
  rm -rf "$folder/gpu_check"
  cp "$0" "$folder/gpu_check.sh"
  ls -l "$folder"
}

# The folder of a library of CUDA, wherever it is installed.
folder_of() {
  find /usr/local/cuda*/ /opt /usr/lib /usr/local/lib -name "$1" 2>/dev/null | head -n 1 | xargs -r dirname
}

row() { printf '%-28s %s\n' "$1" "$2" | tee -a "$out/table.txt"; }

# check NAME COMMAND...: runs it with a log, and adds its result and time to the table
check() {
  name=$1
  shift
  begin=$(date +%s)
  if "$@" >"$work/$name.log" 2>&1; then result=passed; else
    result="FAILED, status $?"
    failed=1
    grep -E -A4 'Failure|what\(\)|Invalid|hazard|rror' "$work/$name.log" | head -n 30
    tail -n 5 "$work/$name.log"
  fi
  if grep -q SKIPPED "$work/$name.log"; then
    result="SKIPPED: $(grep -m 1 -A 1 'Skipped' "$work/$name.log" | tail -n 1)"
    failed=1
  fi
  { echo "== $name: $*"; cat "$work/$name.log"; } >>"$out/logs.txt"
  row "$name" "$result in $(($(date +%s) - begin)) s; $(grep -hE '^\[  (PASSED|FAILED)|ERROR SUMMARY|RACECHECK SUMMARY' "$work/$name.log" | tr '\n' ' ')"
}

wants() { case " $steps " in *" $1 "*) true ;; *) false ;; esac }

speed() {  # SHAPE PRECISION SENTENCES
  check "speed-$1-$2-$3" ./cuda_speed "$1" "$2" "$3"
  row "  speed" "$(cat "$work/speed-$1-$2-$3.log")"
}

# The time of each kernel in one update of the base shape, largest first.
profile() {
  profiler=$(command -v ncu || find /usr/local/cuda*/bin /opt/nvidia -name ncu -type f 2>/dev/null | head -n 1)
  [ -n "$profiler" ] || return 0
  timeout 90 "$profiler" --clock-control none --metrics gpu__time_duration.sum --csv --launch-skip 2500 \
    --launch-count 700 ./cuda_speed base bfloat16 256 1 >"$work/profile.csv" 2>&1 || true
  python3 - "$work/profile.csv" >"$out/profile.txt" <<'PYTHON' || true
import collections, csv, sys
lines = [line for line in open(sys.argv[1], errors="replace") if line.startswith('"')]
times, counts = collections.Counter(), collections.Counter()
for row in csv.DictReader(lines):
    name = row["Kernel Name"].split("(")[0][:70]
    scale = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3}[row["Metric Unit"]]
    times[name] += float(row["Metric Value"].replace(",", "")) * scale
    counts[name] += 1
print(f"{sum(times.values()):.0f} us in {sum(counts.values())} kernels")
for name, time in times.most_common(30):
    print(f"{time:9.0f} us {counts[name]:5d} x  {name}")
PYTHON
  cat "$out/profile.txt"
}

# Scores of the GPU differ from those of the CPU by 1e-3 at most.
score_on_both() {
  for device in cpu cuda; do
    ./dragoman score --device $device --model model --source corpus/valid.en --target corpus/valid.de --output $device.tsv
  done
  paste cpu.tsv cuda.tsv | awk '{d = $1 - $4; if (d < 0) d = -d; if (d > most) most = d}
    END {print "largest difference", most; exit most > 1e-3}'
}

# Translations with weights in int8 are those of the CPU.
int8_on_both() {
  for device in cpu cuda; do
    ./dragoman translate --device $device --model model --precision int8 --input corpus/valid.en --output $device.int8
  done
  different=$(diff cpu.int8 cuda.int8 | grep -c '^<' || true)
  echo "lines that differ: $different of $(wc -l <cpu.int8)"
  [ "$different" -le "$(($(wc -l <cpu.int8) / 100))" ]
}

# The server answers as `translate`, before and after a reload.
serve_as_translate() {
  head -n 20 corpus/valid.en >lines.txt
  ./dragoman translate --device cuda --model model --input lines.txt --output translated.txt
  ./dragoman serve --device cuda --model en:de=model --whole-lines --port 5077 2>serve.log &
  server=$!
  python3 - "$server" <<'PYTHON' && result=0 || result=$?
import json, os, signal, sys, time, urllib.request
lines, expected = (open(name).read().splitlines() for name in ("lines.txt", "translated.txt"))
def ask(path, body=None):
    request = urllib.request.Request("http://127.0.0.1:5077" + path, body and json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    return urllib.request.urlopen(request).read().decode()
for attempt in range(600):
    if "serving at" in open("serve.log").read():
        break
    time.sleep(0.1)
for reloads in (0, 1):
    seen = [json.loads(ask("/translate", {"q": line, "source": "en", "target": "de"}))["translatedText"] for line in lines]
    assert seen == expected, (seen, expected)
    os.kill(int(sys.argv[1]), signal.SIGHUP)
    while "reloaded" not in open("serve.log").read():
        time.sleep(0.1)
assert 'dragoman_device_info{device="cuda:0"} 1' in ask("/metrics")
PYTHON
  kill "$server"
  wait "$server" || result=1
  cat serve.log
  return $result
}

run() {
  folder=$1
  out=${2:-"$folder/results"}
  steps=${GPU_CHECK_STEPS:-"facts ops decoding model golden c_api training family messages speed train serve sanitizer"}
  failed=0
  mkdir -p "$out"
  out=$(cd "$out" && pwd)
  : >"$out/table.txt"
  : >"$out/logs.txt"
  work=$(mktemp -d)
  tar -C "$work" -xzf "$folder/gpu_check.tar.gz"
  cd "$work/gpu_check"
  cublas=$(folder_of 'libcublasLt.so.13')
  nccl=$(folder_of 'libnccl.so.2')
  export LD_LIBRARY_PATH="$work/gpu_check/lib:$cublas:$nccl${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  if wants facts; then
    row card "$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1 | head -n 1)"
    row cublasLt "${cublas:-not found}"
    if [ -x dragoman ]; then row device "$(./dragoman info 2>&1 | grep GPU | tr '\n' ';' || true)"; fi
  fi
  if wants ops; then check ops ./cuda_ops_test; fi
  if wants decoding; then check decoding ./cuda_decoding_kernels_test; fi
  if wants decoding && [ -x cuda_decoding_test ]; then check search ./cuda_decoding_test; fi
  if wants decoding && [ -x cuda_decoders_test ]; then check decoders ./cuda_decoders_test; fi
  if wants model; then check model ./cuda_model_test; fi
  export DRAGOMAN_GOLDEN="$work/gpu_check/golden"  # where the tests find the stored runs
  for run in transformer language_model encoder recurrent convolutional batch_norm; do
    if wants golden && [ -x "cuda_golden_${run}_test" ]; then check "golden-$run" "./cuda_golden_${run}_test"; fi
  done
  if wants c_api && [ -x cuda_c_api_test ]; then check c_api ./cuda_c_api_test; fi
  if wants training && [ -x cuda_training_test ]; then check training ./cuda_training_test; fi
  if wants messages && [ -x cuda_device_group_test ]; then check messages ./cuda_device_group_test; fi
  if wants family && [ -x cuda_family_test ]; then check family ./cuda_family_test; fi
  if wants speed && [ -x cuda_speed ]; then
    speed base float32 256
    speed base bfloat16 256
    speed base bfloat16 1024
    speed tiny bfloat16 256
    speed tiny bfloat16 128
    speed gpt2-small bfloat16 16
  fi
  if wants speed && [ -x dragoman ]; then  # windows of one length: updates that run as they were recorded
    for shape in gpt-mini gpt-char; do
      check "speed-$shape-recorded" ./dragoman benchmark --train --device cuda --shape $shape --precision bfloat16 \
        --sentences 32 --target-length 64 --warmup 10 --steps 50
    done
    for precision in bfloat16 int8; do
      check "speed-translate-$precision" ./dragoman benchmark --translate --device cuda --shape base --beam-size 1 \
        --sentences 128 --batch-tokens 8192 --precision $precision --steps 5
    done
  fi
  if wants profile && [ -x cuda_speed ]; then profile; fi
  if wants train && [ -x dragoman ]; then
    ./dragoman sample-corpus --output corpus --size 2000 >"$work/corpus.log" 2>&1 || true
    check train ./dragoman train --device cuda --preset tiny --source corpus/train.en --target corpus/train.de \
      --valid-source corpus/valid.en --valid-target corpus/valid.de --model model --max-steps 200
    check translate sh -c 'head -n 20 corpus/valid.en | ./dragoman translate --device cuda --model model'
    check translate-int8 int8_on_both
    if wants serve; then
      check score score_on_both
      check serve serve_as_translate
    fi
  fi
  if wants sanitizer; then
    sanitizer=$(command -v compute-sanitizer || find /usr/local/cuda*/bin /opt -name compute-sanitizer -type f 2>/dev/null | head -n 1)
    for tool in ${sanitizer:+memcheck racecheck initcheck synccheck}; do
      check "$tool-ops" timeout 150 "$sanitizer" --tool $tool --error-exitcode 9 ./cuda_ops_test --gtest_filter='*Float32*'
      check "$tool-decoding" timeout 100 "$sanitizer" --tool $tool --error-exitcode 9 ./cuda_decoding_kernels_test
    done
  fi
  echo
  cat "$out/table.txt"
  rm -rf "$work"
  exit $failed
}

case "${1:-}" in
  pack) pack "${2:?give a folder}" "${3:-}" ;;
  run) run "$(cd "${2:?give the folder of pack}" && pwd)" "${3:-}" ;;
  all)
    folder=$(mktemp -d)
    pack "$folder"
    run "$folder" ./gpu_check_results
    ;;
  *)
    echo "gpu_check.sh: give pack FOLDER, run FOLDER, or all" >&2
    exit 2
    ;;
esac
