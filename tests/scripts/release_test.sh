#!/bin/bash
# scripts/release.sh in a copy of the repository: versions everywhere, changelog, tag, archive, checksums; and what it
# refuses. Packages are left out.
#   release_test.sh ROOT        status 77 where ROOT is no git repository
set -euo pipefail
export LC_ALL=C.UTF-8
root=$1
if ! git -c safe.directory='*' -C "$root" rev-parse -q --verify HEAD >/dev/null 2>&1; then
  echo "$root is no git repository"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@example.org GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@example.org
git init -q "$folder/copy"
for file in CMakeLists.txt CHANGELOG.md include/dragoman.h examples/CMakeLists.txt packaging/kubernetes/dragoman.yaml scripts/release.sh; do
  mkdir -p "$folder/copy/$(dirname "$file")"
  cp -p "$root/$file" "$folder/copy/$file"
done
cd "$folder/copy"
sed -i 's/^project(dragoman VERSION [0-9.]*/project(dragoman VERSION 0.1.0/' CMakeLists.txt
printf '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- something\n' >CHANGELOG.md
git add -A
git commit -q -m "a state"

expect() {  # STATUS TEXT ARGUMENT...
  local wanted=$1 text=$2 outcome=0 said
  shift 2
  said=$(scripts/release.sh "$@" 2>&1) || outcome=$?
  if [ $outcome != "$wanted" ] || ! grep -qF -- "$text" <<<"$said"; then
    echo "release.sh $*: expected $wanted and '$text', seen $outcome: $said"
    exit 1
  fi
}

expect 2 "VERSION is '1'" --no-packages 1
expect 2 "must be above 0.1.0" --no-packages 0.0.9
echo x >stray
expect 2 "the tree has changes" --no-packages 0.1.0
rm stray
expect 0 "dragoman 0.1.0 is in" --no-packages 0.1.0 "$folder/first"
expect 2 "tag v0.1.0 already" --no-packages 0.1.0
expect 2 "nothing stands under [Unreleased]" --no-packages 0.2.0
sed -i 's/^## \[Unreleased\]$/## [Unreleased]\n\n- more/' CHANGELOG.md
git commit -q -a -m "more"
expect 0 "dragoman 1.2.3 is in" --no-packages 1.2.3 "$folder/second"

grep -q '^project(dragoman VERSION 1.2.3 ' CMakeLists.txt
grep -q '^#define DRAGOMAN_VERSION "1.2.3"$' include/dragoman.h
grep -q '^#define DRAGOMAN_VERSION_MINOR 2$' include/dragoman.h
grep -q '^find_package(dragoman 1.2 ' examples/CMakeLists.txt
grep -q "^## \[1.2.3\] - $(date -u +%Y)" CHANGELOG.md
[ "$(git describe)" = v1.2.3 ]
[ -z "$(git status --porcelain)" ]
(cd "$folder/second" && sha256sum --quiet -c SHA256SUMS)
tar -tzf "$folder/second/dragoman-1.2.3.tar.gz" >"$folder/names"  # no pipe: grep -q leaves before tar has written all
grep -q '^dragoman-1.2.3/include/dragoman.h$' "$folder/names"
echo "two releases"
