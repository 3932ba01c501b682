#!/bin/sh
# Installs the Debian 12 packages that building and testing dragoman needs.
#   scripts/install_dependencies.sh            all packages for build and tests
#   scripts/install_dependencies.sh --peers    also Python, for the checks against other programs
#   scripts/install_dependencies.sh --browser  also Chromium, Python and node, for the checks of the web page
#   scripts/install_dependencies.sh --formulas also node and KaTeX, for the check of the formulas in docs/
#   scripts/install_dependencies.sh --pictures also Chromium, Python, webp and Chinese fonts, for the pictures of the README
#   scripts/install_dependencies.sh --list     prints the packages, one a line, and installs nothing
# Does nothing, at once, when everything is there. Runs as root or with sudo.
set -eu
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes

packages="cmake ninja-build g++ pkg-config git ccache
libhwy-dev libsentencepiece-dev libcli11-dev libyaml-cpp-dev nlohmann-json3-dev libfmt-dev
libssl-dev libicu-dev libexpat1-dev zlib1g-dev liblzma-dev libzstd-dev libboost-dev libboost-context-dev libcld2-dev
libedit-dev libopenmpi-dev openmpi-bin
iproute2 libgtest-dev libgmock-dev zsh fish groff-base man-db abigail-tools
locales"

list_only=no
for option in "$@"; do
  case "$option" in
    --peers) packages="$packages python3 python3-venv" ;;
    --browser) packages="$packages python3 chromium nodejs" ;;
    --formulas) packages="$packages nodejs libjs-katex" ;;
    --pictures) packages="$packages python3 chromium webp fonts-noto-cjk" ;;
    --list) list_only=yes ;;
    *)
      echo "install_dependencies.sh: unknown option '$option'; known: --peers, --browser, --formulas, --pictures, --list" >&2
      exit 2
      ;;
  esac
done

if [ "$list_only" = yes ]; then
  for package in $packages; do echo "$package"; done
  exit 0
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install_dependencies.sh: this system has no apt-get (dragoman is built from Debian 12 packages)." >&2
  echo "Install what these packages hold in your own way, then run cmake yourself:" >&2
  for package in $packages; do echo "  $package" >&2; done
  exit 1
fi

missing=""
for package in $packages; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
  echo "packages: all installed"
  exit 0
fi

as_root=""
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install_dependencies.sh: these packages are missing and there is neither root nor sudo:$missing" >&2
    echo "Ask an administrator to run: apt-get install$missing" >&2
    exit 1
  fi
  as_root="sudo"
fi

echo "packages: installing$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q
# shellcheck disable=SC2086  # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
