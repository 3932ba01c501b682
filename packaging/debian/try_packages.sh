#!/bin/bash
# Installs the packages of a folder in a clean Debian 12 that mmdebstrap makes, and uses them there: trains a small model,
# translates with the program, from C and, where that package is there, from Python, asks the server, and removes the packages again.
#   packaging/debian/try_packages.sh FOLDER
# The root goes with the script. Mirrors, proxies and certificates are those of this machine. Needs root.
set -euo pipefail
export LC_ALL=C.UTF-8
folder=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

# Debian 12 archives that this machine's apt uses.
mapfile -t mirrors < <(apt-get indextargets --format "deb \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" 'Created-By: Packages' |
  grep -E ' bookworm(-updates|-security)? main$' | sort -u)
apt_options=()
while IFS= read -r line; do apt_options+=(--aptopt="$line"); done < <(apt-config dump | grep -E '^Acquire::https?::' || true)

cat >"$work/use.sh" <<'END'
set -euxo pipefail
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
cd /root
apt-get install -q -y --no-install-recommends ./packages/dragoman_*.deb
dragoman --version
test -s /usr/share/man/man1/dragoman-train.1.gz
test -s /usr/share/bash-completion/completions/dragoman
! ldd /usr/bin/dragoman | grep 'not found'
dragoman sample-corpus --pair en-de --seed 1 --size 1000 --output corpus
dragoman train --preset tiny --vocab-size 300 --max-steps 30 --validate-every 30 --d-model 32 --d-ff 64 \
  --encoder-layers 1 --decoder-layers 1 --source corpus/train.en --target corpus/train.de --valid-source corpus/valid.en \
  --valid-target corpus/valid.de --model model --quiet
head -5 corpus/test.en >lines
dragoman translate --model model <lines >by_program

apt-get install -q -y --no-install-recommends ./packages/libdragoman*.deb gcc libc6-dev pkg-config
gcc -std=c99 -pedantic -Werror -o translate /usr/share/doc/libdragoman-dev/examples/c/translate.c \
  $(pkg-config --cflags --libs dragoman-c)
./translate model <lines >by_c
cmp by_program by_c

python=''
if ls packages/python3-dragoman_*.deb; then
  python=python3-dragoman
  apt-get install -q -y --no-install-recommends ./packages/python3-dragoman_*.deb
  python3 -c 'import dragoman, sys
for line in dragoman.load("model").translate(sys.stdin.read().splitlines()):
    print(line)' <lines >by_python
  cmp by_program by_python
fi

dragoman serve --model en:de=model --port 3456 2>served &
server=$!
for try in $(seq 100); do ! grep -q 'serving at' served || break; sleep 0.1; done
exec 3<>/dev/tcp/127.0.0.1/3456
printf 'GET /v2/health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' >&3
grep -q '200 OK' <&3
kill -TERM $server
wait $server
apt-get purge -q -y dragoman libdragoman0 libdragoman-dev $python
test ! -e /usr/bin/dragoman
test -z "$(find / -xdev -name '*dragoman*' -not -path '/root/*' -not -path '/var/*' -not -path '/proc/*')"
echo "try_packages.sh: installed, used and removed"
END
cp "$folder"/*.deb "$work"
# shellcheck disable=SC2016  # $1 is the root, for the shell of mmdebstrap
mmdebstrap --quiet --variant=apt "${apt_options[@]}" \
  --customize-hook="mkdir \"\$1/root/packages\" && cp $work/*.deb \"\$1/root/packages/\" && cp $work/use.sh \"\$1/root/\"" \
  --customize-hook='chroot "$1" bash /root/use.sh' bookworm "$work/root" "${mirrors[@]}"
