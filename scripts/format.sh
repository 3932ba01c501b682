#!/bin/sh
# Formats all C++ files by .clang-format, or with --check only says which ones differ (status 1 if any).
set -eu
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
cd "$(dirname "$0")/.."

mode=apply
case "${1:-}" in
  "") ;;
  --check) mode=check ;;
  *)
    echo "format.sh: unknown option '$1'; known: --check" >&2
    exit 2
    ;;
esac

tool=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$tool" ]; then
  echo "format.sh: no clang-format; on Debian 12: apt-get install clang-format" >&2
  exit 1
fi

files=$(git ls-files '*.h' '*.cpp' '*.cu')
if [ "$mode" = check ]; then
  # shellcheck disable=SC2086  # a list of files
  "$tool" --dry-run -Werror $files && echo "format: all files are formatted"
else
  # shellcheck disable=SC2086
  "$tool" -i $files
fi
