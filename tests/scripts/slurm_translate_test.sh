#!/bin/bash
# scripts/slurm_translate.sh gives each line exactly once, in order: with any number of tasks, after a task that was
# killed, and with two tasks on one shard. A stand-in for the program writes lines in capitals.
#   slurm_translate_test.sh ROOT
set -euo pipefail
export LC_ALL=C.UTF-8
shards="$1/scripts/slurm_translate.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >stand_in <<'END'
#!/bin/bash
# translate --word X --input FILE --output FILE; fails halfway for the shard that the file "breaks" names.
set -eu
[ "$1 $2 $3" = "translate --word X" ] || exit 2
input=$5 output=$7
if [ -e breaks ] && [ "${input##*.}" = "$(cat breaks)" ]; then
  head -1 "$input" >"$output.tmp"
  exit 137
fi
tr '[:lower:]' '[:upper:]' <"$input" >"$output.tmp"
[ -z "$(tail -c 1 "$input")" ] || echo >>"$output.tmp"
mv "$output.tmp" "$output"
END
chmod +x stand_in
export DRAGOMAN=$PWD/stand_in

fail() { echo "$*"; exit 1; }
expect() {  # STATUS TEXT COMMAND...
  local wanted=$1 text=$2 outcome=0 said
  shift 2
  said=$("$@" 2>&1) || outcome=$?
  if [ $outcome != "$wanted" ] || ! grep -qF -- "$text" <<<"$said"; then
    fail "$*: expected $wanted and '$text', seen $outcome: $said"
  fi
}
task() {  # TASK MIN MAX STEP FOLDER
  SLURM_ARRAY_TASK_ID=$1 SLURM_ARRAY_TASK_MIN=$2 SLURM_ARRAY_TASK_MAX=$3 SLURM_ARRAY_TASK_STEP=$4 \
    "$shards" work "$5" -- --word X
}

seq -f 'line %g' 103 >lines
printf 'the last has no end' >>lines
tr '[:lower:]' '[:upper:]' <lines >expected
echo >>expected

# One task, without Slurm; and a compressed file.
expect 0 "104 lines in 7 shards" "$shards" split lines alone 7
expect 1 "7 shards are not translated: 000000" "$shards" join alone out
expect 0 "translated 7 shards" "$shards" work alone -- --word X
expect 0 "104 lines" "$shards" join alone out
cmp expected out
gzip -k lines
expect 0 "104 lines in 3 shards" "$shards" split lines.gz packed 3
expect 0 "task 0 of 1" "$shards" work packed -- --word X
expect 0 "104 lines" "$shards" join packed packed_out
cmp expected packed_out

# Tasks 5, 7, 9 of an array; one breaks, and the array is submitted again.
expect 0 "104 lines in 10 shards" "$shards" split lines many 10
echo 000004 >breaks
expect 137 "" task 7 5 9 2 many
task 5 5 9 2 many >/dev/null
task 9 5 9 2 many >/dev/null
expect 1 "are not translated: 000004 000007; submit the array again" "$shards" join many out2
[ ! -e out2 ] || fail "join wrote an output with holes"
rm breaks
expect 0 "task 0 of 3 translated 0 shards" task 5 5 9 2 many
expect 0 "task 1 of 3 translated 2 shards" task 7 5 9 2 many
expect 0 "104 lines" "$shards" join many out2
cmp expected out2

# Two tasks have the same shards at one time.
expect 0 "" "$shards" split lines twice 5
"$shards" work twice -- --word X >/dev/null & first=$!
"$shards" work twice -- --word X >/dev/null & second=$!
wait $first
wait $second
"$shards" join twice out3 >/dev/null
cmp expected out3

expect 2 "is no action" "$shards" cut
expect 2 "SHARDS is 'x'" "$shards" split lines y x
expect 2 "holds shards already" "$shards" split lines alone 2
expect 2 "run split first" "$shards" work nothing -- --word X
expect 2 "then --" "$shards" work alone --word X
echo "all shards"
