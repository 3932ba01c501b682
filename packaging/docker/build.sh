#!/bin/bash
# Builds the image of packaging/docker/Dockerfile with buildah, without a daemon and without a registry.
#   packaging/docker/build.sh [--bootstrap] [PACKAGES]
#   PACKAGES     folder of the Debian packages (default: build-package/packages)
#   --bootstrap  makes the base image from Debian's archive by mmdebstrap, where no registry can be reached
# The image is called localhost/dragoman. Afterwards the program runs in it once. Needs root.
set -euo pipefail
export LC_ALL=C.UTF-8
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot  # work without an overlay file system, and inside a container
checkout=$(realpath "$(dirname "$0")/../..")

fail() { echo "build.sh: $*" >&2; exit 2; }

base=debian:12-slim
bootstrap=''
if [ "${1:-}" = --bootstrap ]; then bootstrap=yes; shift; fi
packages=$(realpath "${1:-"$checkout/build-package/packages"}")
compgen -G "$packages/dragoman_*.deb" >/dev/null || fail "$packages has no dragoman_*.deb; run scripts/package.sh"
command -v buildah >/dev/null || fail "no buildah; on Debian: apt-get install buildah"

if [ -n "$bootstrap" ]; then
  base=localhost/debian:12-slim
  work=$(mktemp -d)
  trap 'rm -rf --one-file-system "$work"' EXIT
  mapfile -t mirrors < <(apt-get indextargets --format "deb \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" \
    'Created-By: Packages' | grep -E ' bookworm(-updates|-security)? main$' | sort -u)
  mmdebstrap --quiet --variant=apt bookworm "$work/root.tar" "${mirrors[@]}"
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$work/root.tar" /
  buildah commit --quiet --rm "$container" "$base"
fi
buildah build --build-arg BASE="$base" -f "$checkout/packaging/docker/Dockerfile" -t localhost/dragoman "$packages"
container=$(buildah from localhost/dragoman)
outcome=0
buildah run "$container" -- dragoman --version || outcome=$?
buildah rm "$container" >/dev/null
exit $outcome
