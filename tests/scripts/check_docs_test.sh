#!/bin/sh
# scripts/check_docs.sh must accept what is there and find what is not.
#   check_docs_test.sh REPOSITORY
# shellcheck disable=SC2016  # backticks are what the pages hold
set -eu
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
check="$1/scripts/check_docs.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/pages/docs" "$folder/pages/src/ops" "$folder/pages/scripts"
echo '  int softmax();' >"$folder/pages/src/ops/softmax.h"

# A program with one command and one option.
cat >"$folder/program" <<'PROGRAM'
#!/bin/sh
if [ "$1" = --help ]; then
  printf 'Subcommands:\n  train                     Train\n'
else
  printf 'Options:\n  -h,--help    Print\n  --beam-size INT   Size\n'
fi
PROGRAM
printf '#!/bin/sh\n# known: --list\n' >"$folder/pages/scripts/a.sh"
chmod +x "$folder/program" "$folder/pages/scripts/a.sh"

# expect STATUS TEXT PAGE: writes the page, runs the check, compares; TEXT must occur in its output.
expect() {
  printf '%s\n' "$3" >"$folder/pages/docs/page.md"
  status=0
  output=$("$check" "$folder/program" "$folder/pages") || status=$?
  if [ "$status" -ne "$1" ] || ! printf '%s' "$output" | grep -qF -- "$2"; then
    echo "page: $3"
    echo "expected status $1 and '$2', seen status $status and: $output"
    exit 1
  fi
}

block='```'
expect 0 "2 links, 0 paths" 'See [a](../src/ops/softmax.h#top), [b](page.md) and [c](https://example.org/x).'
expect 1 'docs/page.md:1: link to gone.md' 'See [a](gone.md).'
expect 0 "0 links, 5 paths" 'A `src/ops/softmax`, `ops/softmax.h`, `page.md`, `src/ops/*.h`, `scripts/`, `DIR/x.h`, `build/x`, `a_b`.'
expect 1 '`src/ops/soft.h` does not exist' 'A `src/ops/soft.h`.'
expect 1 '`gone.cpp` does not exist' 'A `gone.cpp`.'
expect 0 "3 commands" "A \`dragoman train --beam-size 4\`, \`scripts/a.sh --list\`.
${block}sh
\$ cat x | build/dragoman train --beam-size=4   # --not-read
$block"
expect 1 'docs/page.md:1: dragoman has no command fly' 'A `dragoman fly`.'
expect 1 'dragoman train has no option --beam' 'A `dragoman train --beam 4`.'
expect 1 'docs/page.md:2: dragoman train has no option --wide' "${block}
dragoman train \\
  --wide
$block"
expect 1 'scripts/a.sh has no option --peers' 'A `scripts/a.sh --peers`.'
expect 1 'scripts/b.sh is no script' 'A `scripts/b.sh --list`.'
expect 0 "1 lines of code" "${block}cpp
  int softmax();
...
$block"
expect 1 'docs/page.md:2: no source has the line: int softmin();' "${block}cpp
int softmin();
$block"

# Anchors: of headings as GitHub names them, and given ones; of other pages too.
expect 0 "4 links" '# The `softmax`, and more: [a link](page.md)
## Twice
## Twice
<a id="given"></a>
See [a](#the-softmax-and-more-a-link), [b](page.md#twice-1) and [c](#given).'
expect 1 'docs/page.md:2: link to #gone: the page has no such heading' '# Here
See [a](#gone).'
expect 1 'link to page.md#here: the page has no such heading' '```
# here
```
[a](page.md#here)'

# Names in files, in the words of either language.
mkdir -p "$folder/pages/tests"
printf 'TEST(Softmax, IsTheFormula) {\nTEST_P(Laws, Hold) {\n' >"$folder/pages/tests/a_test.cpp"
expect 0 "3 names" 'The `softmax` in `src/ops/softmax.h`, `Softmax.IsTheFormula` and `Laws.Hold` in `tests/a_test.cpp`.'
expect 0 "2 names" '函数 `ops::softmax`（`ops/softmax.h`），测试 `Laws.Hold`（`tests/a_test.cpp`）。'
expect 1 '`src/ops/softmax.h` does not name soft' 'The `soft` in `src/ops/softmax.h`.'
expect 1 '`tests/a_test.cpp` has no test Softmax.Holds' 'The `Softmax.Holds` in `tests/a_test.cpp`.'
expect 1 '`tests/a_test.cpp` has no test Laws.Held' '测试 `Laws.Held`、`Laws.Hold`（`tests/a_test.cpp`）。'

# Formulas with a number.
expect 0 "1 formulas" '$$ x = y \tag{A1} $$

| (A1) | `softmax` in `src/ops/softmax.h` | `Laws.Hold` in `tests/a_test.cpp` |'
expect 1 'docs/page.md:1: formula (A2) has no row with a test' '$$ x = y \tag{A2} $$'

status=0
"$check" "$folder/gone" "$folder/pages" 2>/dev/null || status=$?
if [ "$status" -ne 2 ]; then
  echo "without a program: expected status 2, seen $status"
  exit 1
fi
echo "check_docs: all cases as expected"
