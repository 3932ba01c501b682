#!/bin/sh
# A program runs on a machine without a GPU, whether or not it was built for one: --device cuda says what is missing and
# writes nothing, --device auto takes the CPU. Skipped (77) if the program finds a GPU.
#   cuda_without_driver_test.sh PROGRAM
set -eu
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
  echo "$*"
  exit 1
}

"$program" info >info.txt
device=$(sed -n 's/^GPU  *//p' info.txt)
case "$device" in
  "cuda:0 "*)
    echo "skipped: the program finds $device"
    exit 77
    ;;
  *"built without CUDA; configure with -DDRAGOMAN_CUDA=ON") wanted=2 ;;
  *"no device: "*"; install an NVIDIA driver of version 580 or later") wanted=1 ;;
  *) fail "info says neither which GPU there is nor what is missing: '$device'" ;;
esac
if ldd "$program" | grep -E 'lib(cuda|cudart|cublas|cublasLt|nvidia)[-.]'; then
  fail "the program cannot start without the libraries above"
fi

"$program" sample-corpus --output corpus --size 200 >corpus.log 2>&1
# run NAME COMMAND...: its status; its output is in NAME.out and NAME.err
run() {
  name=$1
  shift
  status=0
  "$program" "$@" >"$name.out" 2>"$name.err" || status=$?
}
train="--preset tiny --source corpus/train.en --target corpus/train.de --max-steps 2"

# shellcheck disable=SC2086  # options
run train train $train --model on-gpu --device cuda
[ "$status" -eq "$wanted" ] || fail "train --device cuda: status $status, expected $wanted: $(cat train.err)"
grep -qF "$device" train.err || fail "train --device cuda does not say '$device': $(cat train.err)"
[ ! -e on-gpu ] || fail "train --device cuda left a folder: $(ls on-gpu)"

# shellcheck disable=SC2086
run unknown train $train --model on-gpu --device gpu
[ "$status" -eq 2 ] || fail "--device gpu: status $status, expected 2"
grep -qF -- '--device is "gpu", must be auto, cpu, cuda or cuda:N' unknown.err || fail "--device gpu: $(cat unknown.err)"

# shellcheck disable=SC2086
run auto train $train --model on-cpu --device auto
[ "$status" -eq 0 ] || fail "train --device auto: status $status: $(cat auto.err)"

for choice in auto cpu; do
  head -n 3 corpus/valid.en >lines.txt
  run "translate-$choice" translate --model on-cpu --device $choice --input lines.txt
  [ "$status" -eq 0 ] || fail "translate --device $choice: status $status: $(cat translate-$choice.err)"
done
cmp translate-auto.out translate-cpu.out || fail "translate --device auto and cpu differ"
run translate translate --model on-cpu --device cuda --input lines.txt
[ "$status" -eq "$wanted" ] || fail "translate --device cuda: status $status, expected $wanted: $(cat translate.err)"
grep -qF "$device" translate.err || fail "translate --device cuda does not say '$device': $(cat translate.err)"
run serve serve --model en:de=on-cpu --device cuda --port 0
[ "$status" -eq "$wanted" ] || fail "serve --device cuda: status $status, expected $wanted: $(cat serve.err)"
grep -qF "$device" serve.err || fail "serve --device cuda does not say '$device': $(cat serve.err)"
run score score --model on-cpu --source corpus/valid.en --target corpus/valid.de --device cuda
[ "$status" -eq "$wanted" ] || fail "score --device cuda: status $status, expected $wanted: $(cat score.err)"
echo "without a GPU: $device"
