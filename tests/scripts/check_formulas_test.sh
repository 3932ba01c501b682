#!/bin/sh
# scripts/check_formulas.sh must accept what GitHub shows and find what it does not.
#   check_formulas_test.sh REPOSITORY        status 77 without node and KaTeX
# shellcheck disable=SC2016  # dollars are what the pages hold
set -eu
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
check="$1/scripts/check_formulas.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/docs/zh"

# expect STATUS TEXT PAGE: writes the page, runs the check, compares; TEXT must occur in its output.
expect() {
  printf '%s\n' "$3" >"$folder/docs/page.md"
  status=0
  output=$("$check" "$folder/docs/page.md" 2>&1) || status=$?
  if [ "$status" -eq 77 ]; then
    echo "$output"
    exit 77
  fi
  if [ "$status" -ne "$1" ] || ! printf '%s' "$output" | grep -qF -- "$2"; then
    echo "page: $3"
    echo "expected status $1 and '$2', seen status $status and: $output"
    exit 1
  fi
}

sum='$$
x = \sum_{j} y_j \tag{A1}
$$'
expect 0 "1 checked" "Text.

$sum"
expect 0 "2 checked" 'Here $x_1$, and 中文 $y$ 。 `$no$`'
expect 1 "page.md:1: KaTeX parse error" 'Here $\frac{x}$ is wrong.'
expect 1 "page.md:1: a \$ without its other" 'Five $ only.'
expect 1 "no letter after: \$x\$" 'An $x$y.'
expect 1 "no letter after: \$x\$" '公式$x$ 。'
expect 1 "no letter after: \$x\$" '公式 $x$是。'
expect 1 'Markdown reads "}_" in: \bar{x}_1' 'Here $\bar{x}_1$ is emphasis.'
expect 1 'Markdown reads "\," in: a\, b' 'Here $a\, b$ has a blank.'
expect 1 'page.md:2: $$ needs an empty line' "Text.
$sum"
printf '\n%s\n' "$sum" >"$folder/docs/page.md"
cp "$folder/docs/page.md" "$folder/docs/zh/page.md"
"$check" "$folder/docs/zh/page.md" >/dev/null
sed -i 's/y_j/z_j/' "$folder/docs/zh/page.md"
if "$check" "$folder/docs/zh/page.md" >"$folder/output"; then
  echo "a translated formula that differs was accepted"
  exit 1
fi
grep -qF 'zh/page.md:1: formula (A1) is not that of' "$folder/output"
echo "check_formulas: all cases as expected"
