#!/bin/bash
# Makes a release: version, changelog, commit, tag, source archive, Debian packages, checksums.
#   scripts/release.sh [--no-packages] VERSION [FOLDER]
#   VERSION         as 0.2.0, above the last one
#   FOLDER          where the files go (default: build-package/release); it gets SHA256SUMS
#   --no-packages   leaves the Debian packages out
# Refuses a tree with changes, a version that is not above the last one or has a tag, and a changelog without entries under "Unreleased".
# Nothing is pushed. `git tag -d vVERSION; git reset --hard HEAD^` takes the release back. Status 2 for wrong use.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
cd "$(dirname "$0")/.."

fail() { echo "release.sh: $*" >&2; exit 2; }

packages=yes
if [ "${1:-}" = --no-packages ]; then packages=''; shift; fi
version=${1:-}
folder=$(realpath -m "${2:-build-package/release}")
[[ "$version" =~ ^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$ ]] || fail "VERSION is '$version', must be like 0.2.0"
[ -z "$(git status --porcelain)" ] || fail "the tree has changes; commit or stash them"
last=$(sed -n 's/^project(dragoman VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
[ -n "$last" ] || fail "CMakeLists.txt: no line project(dragoman VERSION ...)"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "there is a tag v$version already"
# The version of the first release stands in the tree before it is released.
if [ "$version" = "$last" ]; then
  [ -z "$(git tag --list 'v*')" ] || fail "VERSION is $version, must be above $last"
else
  [ "$(printf '%s\n' "$last" "$version" | sort -V | tail -1)" = "$version" ] || fail "VERSION is $version, must be above $last"
fi
entries=$(awk '/^## /{ inside = ($0 == "## [Unreleased]"); next } inside && /^- /' CHANGELOG.md)
[ -n "$entries" ] || fail "CHANGELOG.md: nothing stands under [Unreleased]"

IFS=. read -r major minor patch <<<"$version"
sed -i "s/^project(dragoman VERSION [0-9.]*/project(dragoman VERSION $version/" CMakeLists.txt
sed -i -e "s/^\(#define DRAGOMAN_VERSION_MAJOR\) .*/\1 $major/" -e "s/^\(#define DRAGOMAN_VERSION_MINOR\) .*/\1 $minor/" \
  -e "s/^\(#define DRAGOMAN_VERSION_PATCH\) .*/\1 $patch/" -e "s/^\(#define DRAGOMAN_VERSION\) .*/\1 \"$version\"/" include/dragoman.h
sed -i "s/^find_package(dragoman [0-9.]*/find_package(dragoman $major.$minor/" examples/CMakeLists.txt
sed -i "s/image: dragoman:[0-9.]*$/image: dragoman:$version/" packaging/kubernetes/dragoman.yaml
sed -i "s/^## \[Unreleased\]$/## [Unreleased]\n\n## [$version] - $(date -u +%F)/" CHANGELOG.md
if ! git diff --quiet; then git commit -q -a -m "release: $version"; fi
git tag -a "v$version" -m "dragoman $version"

mkdir -p "$folder"
git archive --prefix="dragoman-$version/" "v$version" | gzip -9 -n >"$folder/dragoman-$version.tar.gz"
if [ -n "$packages" ]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) scripts/package.sh "$folder"
fi
rm -f "$folder/SHA256SUMS"
sums=$(cd "$folder" && sha256sum -- *)
echo "$sums" >"$folder/SHA256SUMS"
echo "release.sh: dragoman $version is in $folder; push it with: git push --follow-tags"
