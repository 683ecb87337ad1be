#!/usr/bin/env bash
# Installs the build into a fresh prefix, moves that elsewhere, and builds and runs a user's programs against it.
#   install_test.sh BUILD_FOLDER SOURCE_FOLDER_OF_THIS_TEST
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset TANDEM_LIBTORCH LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH

say() { printf -- '-- %s\n' "$*"; }
expect() {  # expect WHAT ACTUAL EXPECTED
  [ "$2" = "$3" ] && return
  printf '%s is "%s", expected "%s"\n' "$1" "$2" "$3" >&2
  exit 1
}

say "install"
cmake --install "$build" --prefix "$work/staged" > "$work/log" || { cat "$work/log"; exit 1; }
prefix=$work/moved
mv "$work/staged" "$prefix"
(cd "$prefix" && find . -type f | sort)

say "nothing in it names the build tree"
if grep -rlF --exclude='libtandem.libtorch' -e "$build" "$prefix/include" "$prefix/lib/cmake" "$prefix/lib/pkgconfig"; then
  echo "these name $build" >&2
  exit 1
fi
for file in "$prefix"/bin/* "$prefix"/lib/*.so; do
  if readelf -d "$file" | grep -E 'R(UN)?PATH' | grep -F "[$build/"; then echo "the rpath of $file" >&2; exit 1; fi
done

say "the tool"
expect "the tool's output" "$("$prefix/bin/tandem" run -n 2 sh -c 'echo $WORLD_SIZE' | sort | tr '\n' ' ')" "[0] 2 [1] 2 "

say "a C program by pkg-config"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
read -ra cflags <<< "$(pkg-config --cflags tandem)"
read -ra libs <<< "$(pkg-config --libs tandem)"
cc -std=c99 -Wall -Wextra -pedantic -Werror "${cflags[@]}" "$source/c/main.c" -o "$work/c-program" "${libs[@]}"
expect "the C program's output" "$(LD_LIBRARY_PATH=$prefix/lib "$work/c-program")" "3 3 3 3"

say "a C++ program by find_package"
launcher=()
if command -v ccache > /dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake -G Ninja -S "$source/cpp" -B "$work/cpp" -DCMAKE_PREFIX_PATH="$prefix" "${launcher[@]}" > "$work/log" ||
  { cat "$work/log"; exit 1; }
cmake --build "$work/cpp" > "$work/log" || { cat "$work/log"; exit 1; }
expect "the C++ program's output" "$("$prefix/bin/tandem" run -n 2 "$work/cpp/consumer" | sort | tr '\n' ' ')" \
  "[0] rank 0 of 2: gradient 1.5 [1] rank 1 of 2: gradient 1.5 "

say "without the right LibTorch, find_package says so"
mkdir -p "$work/no-libtorch"
if TANDEM_LIBTORCH=$work/no-libtorch cmake -G Ninja -S "$source/cpp" -B "$work/cpp2" -DCMAKE_PREFIX_PATH="$prefix" \
    > "$work/log" 2>&1; then
  echo "it was found without LibTorch" >&2
  exit 1
fi
tr -s ' \n' ' ' < "$work/log" | grep -q "set TANDEM_LIBTORCH to its folder" || { cat "$work/log"; exit 1; }
