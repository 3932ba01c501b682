#!/bin/sh
# scripts/check_braces.sh must accept bodies in braces and refuse bodies without.
#   check_braces_test.sh REPOSITORY
set -eu
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
check="$1/scripts/check_braces.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# expect STATUS TEXT CODE: checks a file with this code; TEXT must occur in the output.
expect() {
  printf '%s\n' "$3" >"$folder/x.cpp"
  status=0
  output=$("$check" "$folder") || status=$?
  if [ "$status" -ne "$1" ] || ! printf '%s' "$output" | grep -qF "$2"; then
    echo "expected status $1 and '$2', seen status $status and: $output; the code was:"
    cat "$folder/x.cpp"
    exit 1
  fi
}

accept() { expect 0 "every body" "$1"; }
refuse() { expect 1 "x.cpp:$1: the body of $2 needs braces" "$3"; }

accept '  if (a) {
    b();
  } else if (c(d)) {
    e();
  } else {
    f();
  }'
accept '  for (int i = 0; i < 3; ++i) {  // three'
accept '  if (a &&
      b(")")) {'
accept '  if constexpr (a) {'
accept '  if (a) [[unlikely]] {'
accept '  do {
    a();
  } while (b());'
accept '  const char* page = R"(
  if (a) b();
)";'
accept '  // if (a) b();'
accept "  if (c == '\"') {"
accept '#if (A)'

refuse 1 if '  if (a) b();'
refuse 1 if '  if (a)
    b();'
refuse 2 for '{
  for (const auto& x : f(y)) g(x);'
refuse 1 while '  while (a &&
         b) c();'
refuse 3 else '  if (a) {
    b();
  } else
    c();'
refuse 3 if '  if (a) {
    b();
  } else if (c) d();'
refuse 1 if '  if (text == "(") b();'
refuse 3 if '  const char* page = R"x(
)x";
  if (a) b();'

status=0
"$check" "$folder/absent" 2>"$folder/message" || status=$?
if [ "$status" -ne 2 ] || ! grep -q "is not a folder" "$folder/message"; then
  echo "a folder that is not there: expected status 2, seen $status and: $(cat "$folder/message")"
  exit 1
fi
