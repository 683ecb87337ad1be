#!/usr/bin/env bash
# Unpacks the archive of script/package on a system without compiler, Python or checkout, and trains there.
#
#   package_test.sh minimal PRESET     a root that holds a shell, glibc and the C++ run-time library, from this machine
#   package_test.sh debian PRESET      a Debian of today (debootstrap --variant=minbase)
#
# Exits 77 (skipped) where this user may not make such a root.
set -euo pipefail
kind=$1 preset=$2
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

skip() { printf 'SKIPPED: %s\n' "$*" >&2; exit 77; }
say() { printf -- '-- %s (%d s)\n' "$*" "$SECONDS"; }

# A namespace of its own: the mounts go with it, and so does everything that runs inside.
namespace=(unshare --mount --pid --fork --kill-child)
[ "$(id -u)" -eq 0 ] || namespace+=(--user --map-root-user)
"${namespace[@]}" true 2> /dev/null || skip "this user may not make mount namespaces; run the test as root"

root=$work/root
mkdir -p "$root"

minimal_root() {
  local file
  mkdir -p "$root"/{bin,dev,proc,tmp,etc,lib64,lib/x86_64-linux-gnu}
  echo '127.0.0.1 localhost' > "$root/etc/hosts"
  echo 'hosts: files' > "$root/etc/nsswitch.conf"
  cp -L /bin/sh "$root/bin/sh"
  cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
  for file in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 libresolv.so.2 librt.so.1 libutil.so.1 libgcc_s.so.1 \
    libstdc++.so.6; do
    cp -L "$(cc -print-file-name=$file)" "$root/lib/x86_64-linux-gnu/"
  done
}

debian_root() {
  local site suite
  [ "$(id -u)" -eq 0 ] || skip "debootstrap needs root"
  command -v debootstrap > /dev/null || skip "debootstrap is not installed (apt-get install debootstrap)"
  # The mirror that this machine uses.
  read -r site suite < <(apt-get indextargets --format '$(REPO_URI) $(SUITE) $(ORIGIN) $(LABEL) $(CODENAME)' \
    'Identifier: Packages' 2> /dev/null | awk '$3 == "Debian" && $4 == "Debian" && $2 !~ /-/ { print $1, $5; exit }') ||
    skip "apt knows no Debian mirror (apt-get update)"
  [ -n "$site" ] || skip "apt knows no Debian mirror (apt-get update)"
  debootstrap --variant=minbase "$suite" "$root" "$site" > "$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; return 1; }
}

say "a $kind system"
"${kind}_root"

say "package"
# The package's own compression, but in the test of the smaller root, which runs every day.
suffix=tar.gz
[ "$kind" = minimal ] && suffix=tar
script/package --no-build --preset "$preset" --output "$work/tandem.$suffix"
tar -C "$root/tmp" -xf "$work/tandem.$suffix"
unpacked=$(ls "$root/tmp")
mkdir -p "$root/srv"
mv "$root/tmp/$unpacked" "$root/srv/tandem"
rm "$work/tandem.$suffix"

say "licences"
for text in LICENSE NOTICE $(grep -oE 'share/licenses/[^ *]+\*[^ ]*' NOTICE); do
  compgen -G "$root/srv/tandem/$text" > /dev/null || { echo "$text is not in the package" >&2; exit 1; }
done

cat > "$root/tmp/inside.sh" <<'INSIDE'
set -eu
for tool in cc gcc python3 go; do
  if command -v $tool > /dev/null; then echo "there is a $tool in here" >&2; exit 1; fi
done
cd /tmp
PATH=/srv/tandem/bin:$PATH
tandem --version
draw-digits digits --train 640 --test 200
for program in mnist-cpp mnist-go; do
  echo "$program:"
  tandem run -n 2 $program --data digits --epochs 1 --batch-size 32 --output out-$program
  [ -s out-$program/curve.png ]
done
echo "trained on both"
INSIDE

say "train in it"
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "${namespace[@]}" bash -euc '
  mount -t proc proc "$1/proc"
  mount -t tmpfs -o mode=755 tmpfs "$1/dev"
  mkdir "$1/dev/shm"
  for device in null zero urandom random; do
    touch "$1/dev/$device"
    mount --bind "/dev/$device" "$1/dev/$device"
  done
  exec chroot "$1" /bin/sh /tmp/inside.sh' - "$root" 2>&1 | tee "$work/log"
grep -q "trained on both" "$work/log"
say "done"
