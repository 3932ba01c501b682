#!/bin/bash
# Runs the quickstart and the tests in a bare Debian 12, as a new user would: debootstrap makes the root, the last
# commit of this checkout is cloned into it, and scripts/quickstart.sh and scripts/test.sh run there with no variables
# but LANG=C, PATH and HOME.
#   scripts/fresh_root.sh [--keep] [--only quickstart|tests] [FOLDER]
#   FOLDER   where the root goes (default: a temporary folder); it must not exist or be empty, of 8 GB of space
#   --keep   leaves the root afterwards; `chroot FOLDER` goes in
#   --only   runs one of the two commands
# Mirrors, proxies, certificates and pip's settings are those of this machine. DRAGOMAN_JOBS=N is handed on.
# Needs root and debootstrap (Debian: apt-get install debootstrap). The mounts live in a namespace of their own and end
# with the script. Prints how long each command took. Status 1 when a command failed, 2 for wrong use.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
checkout=$(realpath "$(dirname "$0")/..")
suite=bookworm

fail() { echo "fresh_root.sh: $*" >&2; exit 2; }

keep='' only='' root=''
while [ $# -gt 0 ]; do
  case "$1" in
    --keep) keep=yes; shift ;;
    --only)
      [[ "${2:-}" =~ ^(quickstart|tests)$ ]] || fail "--only is '${2:-}', must be quickstart or tests"
      only="$2"; shift 2 ;;
    -*) fail "unknown option '$1'; known: --keep, --only" ;;
    *) [ -z "$root" ] || fail "one FOLDER only, seen '$root' and '$1'"; root="$1"; shift ;;
  esac
done
[ "$(id -u)" -eq 0 ] || fail "debootstrap and chroot need root; run it with sudo"
command -v debootstrap >/dev/null || fail "no debootstrap; on Debian: apt-get install debootstrap"
[ -z "$root" ] || [ ! -e "$root" ] || [ -z "$(ls -A "$root")" ] || fail "$root is there and not empty"
if [ -z "$root" ]; then root=$(mktemp -d); else mkdir -p "$root"; fi
root=$(realpath "$root")
child=''
# shellcheck disable=SC2317  # called by trap
clean_up() {
  [ -z "$child" ] || kill -KILL "$child" 2>/dev/null || true
  [ -n "$keep" ] || rm -rf --one-file-system "$root"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# shellcheck disable=SC2317  # called by `timed`
# Runs a command whose mounts and processes end with it; waits in a way that leaves this script open to signals.
contained() {  # COMMAND...
  local outcome=0
  unshare --mount --pid --fork --kill-child "$@" </dev/null &
  child=$!
  wait "$child" || outcome=$?
  child=''
  return "$outcome"
}

# "ADDRESS SUITE COMPONENT" of each Debian 12 archive that this machine's apt uses; nothing on another system.
sources=$(apt-get indextargets --format "\$(REPO_URI) \$(RELEASE) \$(COMPONENT)" 'Created-By: Packages' 2>/dev/null |
  grep -E " $suite(-updates|-security)? main\$" | sort -u || true)

copy_settings() {
  local file
  [ -z "$sources" ] || awk '{ print "deb " $0 }' <<<"$sources" >"$root/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::(https?::|Retries)' >"$root/etc/apt/apt.conf.d/90host" || true
  for file in /etc/apt/auth.conf /etc/apt/auth.conf.d /etc/pip.conf /etc/hosts /etc/resolv.conf \
    /etc/ssl/certs/ca-certificates.crt /usr/local/share/ca-certificates; do
    [ ! -e "$file" ] || { mkdir -p "$root${file%/*}" && cp -aL "$file" "$root${file%/*}/"; }
  done
}

# shellcheck disable=SC2016,SC2317  # for the inner shells; called by `timed`
enter() {  # COMMAND...: in the root, in the checkout
  contained bash -euc '
    root=$1 jobs=$2
    shift 2
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" /usr/bin/env -i LANG=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      HOME=/root ${jobs:+DRAGOMAN_JOBS="$jobs"} /bin/sh -c "cd /root/dragoman && exec \"\$@\"" sh "$@"
  ' bash "$root" "${DRAGOMAN_JOBS:-}" "$@"
}

times=''
status=0
timed() {  # NAME COMMAND...
  local name="$1" begin=$SECONDS outcome=passed
  shift
  echo "fresh_root.sh: $name"
  "$@" || { outcome="FAILED with status $?"; status=1; }
  times+="fresh_root.sh: $name: $outcome after $((SECONDS - begin)) s"$'\n'
}

mirror=$(grep -E " $suite main\$" <<<"$sources" | head -1 | cut -d ' ' -f 1 || true)
timed "making the root" contained debootstrap --variant=minbase "$suite" "$root" ${mirror:+"$mirror"}
if [ $status = 0 ]; then
  copy_settings
  git -c safe.directory="$checkout" clone -q --no-local "$checkout" "$root/root/dragoman"
  [ "$only" = tests ] || timed scripts/quickstart.sh enter scripts/quickstart.sh
  [ "$only" = quickstart ] || timed scripts/test.sh enter scripts/test.sh
fi
printf '%s' "$times"
[ -z "$keep" ] || echo "fresh_root.sh: the root is left in $root"
exit $status
