#!/bin/bash
# Compiles for 64-bit ARM on x86-64, and runs tests under qemu's user emulation.
#   scripts/cross_aarch64.sh [TARGET...]      default: the tests of base, tensor, kernels, ops and nn
# The first run makes a folder of arm64 headers and libraries, build-aarch64/sysroot, from Debian's archive by mmdebstrap:
# libraries of two processors beside each other would remove the native compiler. Needs root for that,
# g++-12-aarch64-linux-gnu, qemu-user-static and mmdebstrap. DRAGOMAN_JOBS=N limits compilers and tests at a time.
# A test that ends with a status other than 0 is a failure; emulation is 10 to 30 times slower than a processor.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
cd "$(dirname "$0")/.."
root=$PWD
build=$root/build-aarch64
sysroot=$build/sysroot
compiler=aarch64-linux-gnu-g++-12

fail() { echo "cross_aarch64.sh: $*" >&2; exit 2; }

for tool in $compiler qemu-aarch64-static mmdebstrap; do
  command -v "$tool" >/dev/null || fail "no $tool; on Debian: apt-get install g++-12-aarch64-linux-gnu qemu-user-static mmdebstrap"
done

if [ ! -e "$sysroot/usr/include/hwy/highway.h" ]; then
  mapfile -t mirrors < <(apt-get indextargets --format "deb \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" \
    'Created-By: Packages' | grep -E ' bookworm(-updates|-security)? main$' | sort -u)
  packages=$(scripts/install_dependencies.sh --list | grep -E '^lib.*-dev$|-dev$' | grep -v openmpi | tr '\n' ',')
  rm -rf "$sysroot"
  mkdir -p "$build"
  # Packages are unpacked, and nothing of them runs.
  mmdebstrap --quiet --arch=arm64 --variant=extract --include="${packages}libc6-dev,libstdc++-12-dev,libgcc-12-dev" \
    bookworm "$sysroot" "${mirrors[@]}"
fi

cat >"$build/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT $sysroot)
set(CMAKE_CXX_COMPILER $compiler)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc-12)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static;-L;$sysroot)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,$sysroot/usr/lib/aarch64-linux-gnu:$sysroot/lib/aarch64-linux-gnu")
END
export PKG_CONFIG_SYSROOT_DIR=$sysroot PKG_CONFIG_PATH=
export PKG_CONFIG_LIBDIR=$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig:$sysroot/usr/share/pkgconfig
cmake -S . -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$build/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
  -DDRAGOMAN_MPI=OFF -DDRAGOMAN_INSTALL=OFF

targets=("$@")
if [ ${#targets[@]} = 0 ]; then
  mapfile -t targets < <(ninja -C "$build" -t targets all | sed -n 's/^\(\(base\|tensor\|kernels\|ops\|nn\)_[a-z0-9_]*_test\): phony$/\1/p')
fi
ninja -C "$build" -j "${DRAGOMAN_JOBS:-$(nproc)}" "${targets[@]}"
names=$(printf '%s\n' "${targets[@]}" | sed -n 's/_test$//p' | paste -sd '|')
ctest --test-dir "$build" --output-on-failure --no-tests=error -j "${DRAGOMAN_JOBS:-$(nproc)}" -R "^($names)$"
