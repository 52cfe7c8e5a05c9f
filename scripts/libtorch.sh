#!/bin/sh
# Fetches the pinned libtorch into the user's cache and links it as `.libtorch` in this clone.
#
#   scripts/libtorch.sh            keep what .libtorch points to, or fetch the CPU libraries
#   CUDA=1 scripts/libtorch.sh     the same with the CUDA libraries (CUDA=0: back to the CPU ones)
#   LIBTORCH=/abs/path …           check and link that folder instead; nothing is fetched
#
# The libraries come from the torch wheel (pip), or, without pip, from the official libtorch zip (curl). A folder in the cache
# is built beside its place and renamed into it once whole, so an interrupted run leaves nothing behind; `.complete` inside
# marks it. Tried: x86-64 Linux with pip, CPU and CUDA sets. Not tried on a real machine: aarch64 Linux, Apple silicon (only
# their wheels' contents were checked), and the zip.
set -eu

TORCH=2.11.0
CUDA_RUNTIME=13.0.96
CUDA_CUPTI=13.0.85
MARKER=.complete

clone=$(cd "$(dirname "$0")/.." && pwd -P)
link=$clone/.libtorch
work=

say() { echo "libtorch: $*" >&2; }
die() {
    echo "libtorch: error: $*" >&2
    exit 1
}

# --- What this machine needs -------------------------------------------------------------------------------------------------

# Sets system, wheel_tags, shared (the suffix of shared libraries), flavour, download_gb and disk_mb.
describe_machine() {
    case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) system=x86_64-linux arch=x86_64 download_gb=0.5 ;;
    Linux-aarch64 | Linux-arm64) system=aarch64-linux arch=aarch64 download_gb=0.4 ;;
    Darwin-arm64) system=arm64-macos download_gb=0.1 ;;
    *) die "torch $TORCH has no build for $(uname -s) on $(uname -m): set LIBTORCH to a libtorch $TORCH built for this machine" ;;
    esac
    case $system in
    *-linux)
        shared=so
        wheel_tags="manylinux2014_$arch"
        minor=28
        while [ $minor -ge 17 ]; do
            wheel_tags="$wheel_tags manylinux_2_${minor}_$arch"
            minor=$((minor - 1))
        done
        glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed -n 's/^glibc 2\.\([0-9]*\).*/\1/p')
        [ "${glibc:-0}" -ge 28 ] || die "torch $TORCH needs glibc 2.28 or newer, and this system has ${glibc:+glibc 2.}${glibc:-another C library}: use a newer system, or set LIBTORCH"
        ;;
    *-macos) shared=dylib wheel_tags="macosx_11_0_arm64" ;;
    esac
    flavour=cpu disk_mb=1300
    if [ "${CUDA:-0}" = 1 ]; then
        [ "$shared" = so ] || die "there is no CUDA on macOS: run without CUDA=1"
        flavour=cuda download_gb=2.5 disk_mb=7000
    fi
}

# Sets cache to this project's folder in the user's cache.
find_cache() {
    case ${XDG_CACHE_HOME:-} in
    /*) cache=$XDG_CACHE_HOME/coorl-async ;;
    *)
        [ -n "${HOME:-}" ] || die "neither XDG_CACHE_HOME nor HOME is set: set one, or LIBTORCH"
        cache=$HOME/.cache/coorl-async
        ;;
    esac
}

# --- Checking and linking ----------------------------------------------------------------------------------------------------

# Says what is wrong with folder $1 as a libtorch; says nothing if it will do.
fault_of() {
    suffix=so
    [ "$(uname -s)" != Darwin ] || suffix=dylib
    for part in "lib/libtorch_cpu.$suffix" "lib/libtorch.$suffix" "lib/libc10.$suffix" \
        include/torch/csrc/api/include/torch/torch.h; do
        [ -e "$1/$part" ] || { echo "it has no $part" && return; }
    done
    header=$1/include/torch/headeronly/version.h
    [ -f "$header" ] || { echo "it is not torch $TORCH (no include/torch/headeronly/version.h)" && return; }
    found=$(awk '/^#define TORCH_VERSION_(MAJOR|MINOR|PATCH) / { v = v dot $3; dot = "." } END { print v }' "$header")
    [ "$found" = "$TORCH" ] || echo "it is torch $found, and this program is built for $TORCH"
}

# Points .libtorch at folder $1.
link_to() {
    if [ "$(cd "$link" 2>/dev/null && pwd -P)" != "$(cd "$1" && pwd -P)" ]; then
        ln -sfn "$1" "$link" || die "cannot write $link: make $clone writable"
    fi
    say "torch $TORCH at $1"
}

link_users_folder() {
    case $LIBTORCH in
    /*) ;;
    *) die "LIBTORCH=$LIBTORCH is not an absolute path: give the full path" ;;
    esac
    root=$(cd "$LIBTORCH" 2>/dev/null && pwd -P) || die "LIBTORCH=$LIBTORCH is not a folder: correct it, or unset it to have torch $TORCH fetched"
    fault=$(fault_of "$root")
    [ -z "$fault" ] || die "LIBTORCH=$LIBTORCH will not do, $fault: point it at an unpacked libtorch $TORCH, or unset it to have that fetched"
    link_to "$root"
}

# --- Tools -------------------------------------------------------------------------------------------------------------------

# Sets pip to a command that can download wheels of another platform, or to nothing.
find_pip() {
    for pip in "python3 -m pip" pip3 pip "python -m pip"; do
        version=$($pip --version 2>/dev/null | sed -n 's/^pip \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
        # 20.3 is the first that knows manylinux_2_28.
        if [ -n "$version" ] && [ "${version%% *}${version##* }" -ge 203 ] 2>/dev/null; then
            return
        fi
    done
    pip=
}

# Sets python to an interpreter, or to nothing.
find_python() {
    for python in python3 python; do
        "$python" -c 'import sys, zipfile; sys.exit(sys.version_info < (3,))' 2>/dev/null && return
    done
    python=
}

# Unpacks of archive $1 into folder $2 the members that match one of the patterns $3….
unpack() {
    archive=$1 into=$2
    shift 2
    if [ -n "$python" ]; then
        "$python" - "$archive" "$into" "$@" <<'PY' 2>"$work/unpack.log"
import fnmatch, sys, zipfile
archive, into, *patterns = sys.argv[1:]
with zipfile.ZipFile(archive) as members:
    for name in members.namelist():
        if not name.endswith("/") and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            members.extract(name, into)
PY
    else
        # 11: nothing matched, which the check of the finished folder judges.
        unzip -q -o "$archive" "$@" -d "$into" >"$work/unpack.log" 2>&1 || [ $? -eq 11 ]
    fi || die "cannot unpack $(basename "$archive") ($(tail -n 1 "$work/unpack.log")): free some disk space under $cache and run this again"
}

# --- Fetching ----------------------------------------------------------------------------------------------------------------

# Downloads the wheels that satisfy the requirements $1… into $work/wheels.
download() {
    tags=
    for tag in $wheel_tags; do tags="$tags --platform $tag"; done
    # Fetched files pass through TMPDIR, which may be small. The kept copy is the unpacked one.
    # shellcheck disable=SC2086
    if ! TMPDIR=$work PIP_REQUIRE_VIRTUALENV=0 PIP_DISABLE_PIP_VERSION_CHECK=1 $pip download --no-deps --no-cache-dir \
        --only-binary=:all: --python-version 3.12 --implementation cp $tags -d "$work/wheels" "$@" >&3 2>"$work/pip.log"; then
        cause=$(grep -i '^ERROR' "$work/pip.log" | head -n 1)
        die "pip could not download $* (${cause:-$(tail -n 1 "$work/pip.log")}): check the network, the proxy and pip's index, or set LIBTORCH"
    fi
}

# Prints the METADATA of the wheel whose file name begins with $1.
metadata_of() {
    unpack "$work/wheels/$1"-*.whl "$work/metadata" '*.dist-info/METADATA'
    tr -d '\r' <"$(echo "$work/metadata/$1"-*.dist-info/METADATA)"
}

# Downloads every nvidia library that the torch wheel declares, those of its CUDA toolkit included.
download_cuda_set() {
    metadata_of torch >"$work/torch"
    declared=$(sed -n '/extra ==/d; s/^Requires-Dist: \(nvidia-[^; ]*\).*/\1/p; s/^Requires-Dist: \(cuda-toolkit\[[^; ]*\).*/\1/p' "$work/torch")
    toolkit=$(echo "$declared" | sed -n 's/^cuda-toolkit\[.*\]\(==.*\)/cuda-toolkit\1/p')
    extras=$(echo "$declared" | sed -n 's/^cuda-toolkit\[\(.*\)\].*/\1/p' | tr ',' ' ')
    [ -n "$toolkit" ] || die "the torch wheel declares no CUDA toolkit, pip's index serves another build: use the default index"
    download "$toolkit"
    metadata_of cuda_toolkit >"$work/toolkit"
    requirements=$(echo "$declared" | grep '^nvidia-')
    for extra in $extras; do
        requirements="$requirements $(sed -n "s/^Requires-Dist: \(nvidia-[^; ]*\);.*extra == ['\"]${extra}['\"].*/\1/p" "$work/toolkit")"
    done
    # shellcheck disable=SC2086
    download $requirements
}

# Fills $built from wheels.
build_from_wheels() {
    say "downloading torch $TORCH ($flavour) for $system with pip: about $download_gb GB, once for all clones"
    download "torch==$TORCH"
    if [ "$flavour" = cuda ]; then
        download_cuda_set
    elif [ "$shared" = so ]; then
        # libtorch_cpu.so of the Linux wheel names these two, whether or not there is a GPU.
        download "nvidia-cuda-runtime==$CUDA_RUNTIME" "nvidia-cuda-cupti==$CUDA_CUPTI"
    fi
    say "unpacking"
    for wheel in "$work"/wheels/*.whl; do
        case $flavour-$(basename "$wheel") in
        cpu-torch-*)
            # Beside torch: OpenMP, and what the aarch64 build computes with.
            unpack "$wheel" "$work/tree" 'torch/include/*' "torch/lib/libtorch_cpu.$shared" "torch/lib/libc10.$shared" \
                "torch/lib/libtorch.$shared" 'torch/lib/libgomp*' 'torch/lib/libomp*' 'torch/lib/libarm_compute*' \
                'torch/lib/libnvpl_*' 'torch/lib/libgfortran*' 'torch/lib/libopenblas*'
            ;;
        cuda-torch-*) unpack "$wheel" "$work/tree" 'torch/include/*' 'torch/lib/*.so*' ;;
        cpu-nvidia*) unpack "$wheel" "$work/tree" 'nvidia/*/lib/libcudart.so*' 'nvidia/*/lib/libcupti.so*' ;;
        cuda-*) unpack "$wheel" "$work/tree" 'nvidia/*/lib/*.so*' ;;
        esac
        rm -f "$wheel"
    done
    mv "$work/tree/torch" "$built"
    if [ -d "$work/tree/nvidia" ]; then
        find "$work/tree/nvidia" -type f -exec mv {} "$built/lib/" \;
    fi
    # What only Python needs.
    rm -f "$built"/lib/libtorch_python.* "$built"/lib/libshm.* "$built"/lib/libtorch_global_deps.*
    # Programs here link against the CPU library alone and open the CUDA one at start-up if it is there.
    [ "$shared" != so ] || echo "INPUT(libtorch_cpu.so)" >"$built/lib/libtorch.so"
    echo "$TORCH" >"$built/build-version"
}

# Fills $built from the official zip.
build_from_zip() {
    command -v curl >/dev/null 2>&1 || die "neither pip (20.3 or newer) nor curl is there: install Python's pip, or set LIBTORCH"
    [ -n "$python" ] || command -v unzip >/dev/null 2>&1 || die "neither python3 nor unzip is there to unpack libtorch: install one"
    case $system-$flavour in
    x86_64-linux-cpu) zip=cpu/libtorch-shared-with-deps-$TORCH%2Bcpu.zip ;;
    x86_64-linux-cuda) zip=cu130/libtorch-shared-with-deps-$TORCH%2Bcu130.zip ;;
    arm64-macos-cpu) zip=cpu/libtorch-macos-arm64-$TORCH.zip ;;
    *) die "there is no libtorch zip for $system, only a wheel: install Python's pip (20.3 or newer)" ;;
    esac
    say "downloading libtorch $TORCH ($flavour) for $system with curl, as pip is not there: up to $download_gb GB, once for all clones"
    curl --fail --location --silent --show-error --retry 3 -o "$work/libtorch.zip" "https://download.pytorch.org/libtorch/$zip" 2>"$work/curl.log" ||
        die "cannot download libtorch ($(tail -n 1 "$work/curl.log")): check the network and the proxy, install pip, or set LIBTORCH"
    say "unpacking"
    unpack "$work/libtorch.zip" "$work/tree" 'libtorch/include/*' "libtorch/lib/*.$shared*" libtorch/build-version
    mv "$work/tree/libtorch" "$built"
}

# Builds $target: beside its place first, then renamed into it.
fetch() {
    mkdir -p "$cache" 2>/dev/null || die "cannot write $cache: make it writable, or set XDG_CACHE_HOME to a folder that is"
    # What a killed run may have left.
    find "$cache" -maxdepth 1 -name '.partial-*' -mmin +720 -exec rm -rf {} + 2>/dev/null || true
    free_mb=$(df -Pk "$cache" | awk 'NR == 2 { print int($4 / 1024) }')
    [ "$free_mb" -ge "$disk_mb" ] || die "$cache has $free_mb MB of free disk space and $disk_mb MB are needed: free some, or set XDG_CACHE_HOME to a folder on another disk"
    work=$(mktemp -d "$cache/.partial-XXXXXX") || die "cannot write $cache: make it writable, or set XDG_CACHE_HOME to a folder that is"
    mkdir "$work/wheels"
    built=$work/built
    # pip's progress is for a person to watch.
    if [ -t 2 ]; then exec 3>&2; else exec 3>"$work/progress.log"; fi
    find_pip
    find_python
    if [ -n "$pip" ] && { [ -n "$python" ] || command -v unzip >/dev/null 2>&1; }; then
        build_from_wheels
    else
        build_from_zip
    fi
    fault=$(fault_of "$built")
    [ -z "$fault" ] || die "the downloaded torch $TORCH is not what was expected, $fault: set LIBTORCH to an unpacked libtorch $TORCH"
    echo "torch $TORCH $flavour $system" >"$built/$MARKER"
    put_in_place
}

# Renames $built to $target, unless another run was faster.
put_in_place() {
    [ ! -e "$target/$MARKER" ] || return 0
    if [ -e "$target" ]; then
        mv "$target" "$work/incomplete"
    fi
    mv "$built" "$target" || die "cannot write $target: make $cache writable"
    # A run that came between leaves a folder inside a folder.
    rm -rf "$target/built"
}

clean_up() {
    [ -z "$work" ] || rm -rf "$work"
}

main() {
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    # Pointing at this clone's link is no choice of another folder.
    if [ -n "${LIBTORCH:-}" ] && [ "$LIBTORCH" != "$link" ]; then
        link_users_folder
        return
    fi
    if [ -z "${CUDA:-}" ] && [ -d "$link" ] && [ -z "$(fault_of "$link")" ]; then
        say "torch $TORCH at $(cd "$link" && pwd -P)"
        return
    fi
    if [ -e "$link" ] && [ ! -L "$link" ]; then
        die "$link is not a link: move it away, or set LIBTORCH to it"
    fi
    describe_machine
    find_cache
    target=$cache/libtorch-$TORCH-$flavour-$system
    if [ ! -e "$target/$MARKER" ] || [ -n "$(fault_of "$target")" ]; then
        rm -f "$target/$MARKER" 2>/dev/null || true
        fetch
    fi
    link_to "$target"
}

main
