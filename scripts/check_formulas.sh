#!/bin/bash
# Checks that GitHub and KaTeX show the formulas of the pages that have some.
#   scripts/check_formulas.sh [PAGE...]     default: all *.md with a formula
# Needs node and KaTeX (scripts/install_dependencies.sh --formulas); status 77 without them, 1 if a formula is wrong.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
here=$(realpath "$(dirname "$0")")
katex="${KATEX:-/usr/share/javascript/katex/katex.mjs}"
if ! command -v node >/dev/null || [ ! -e "$katex" ]; then
  echo "skipped: node or $katex is not there; scripts/install_dependencies.sh --formulas installs them"
  exit 77
fi
if [ $# -gt 0 ]; then
  pages=("$@")
else
  cd "$here/.."
  mapfile -t pages < <(find . -name '*.md' -not -path './build*' -not -path './.*' -exec grep -l '^\$\$$' {} + | sort)
fi
exec node "$here/check_formulas.mjs" "$katex" "${pages[@]}"
