#!/bin/bash
# Runs a command on each of several hosts, which are network namespaces of this machine that a bridge joins:
#
#   hosts.sh 2 tandem run -n 2 -- program
#
# tandem run and torchrun read from the environment which of the hosts each is. Root, or user namespaces, and ip
# (iproute2). Ends with the first code that is not 0.
set -euo pipefail
if [ "${TANDEM_HOSTS_INSIDE:-}" != yes ]; then
  flags=(--net --kill-child --fork)
  [ "$(id -u)" = 0 ] || flags+=(--user --map-root-user)
  TANDEM_HOSTS_INSIDE=yes exec unshare "${flags[@]}" "$0" "$@"
fi
hosts=$1
shift
ip link set lo up
ip link add br0 type bridge
ip link set br0 up
runs=()
keepers=()
trap 'kill "${keepers[@]}" 2>/dev/null || true' EXIT
for ((host = 0; host < hosts; host++)); do
  unshare --net sleep infinity &
  keeper=$!
  keepers+=("$keeper")
  until [ "$(readlink "/proc/$keeper/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
  ip link add "h$host" type veth peer name eth0 netns "$keeper"
  ip link set "h$host" master br0 up
  nsenter -t "$keeper" -n ip addr add "10.77.0.$((host + 1))/24" dev eth0
  nsenter -t "$keeper" -n ip link set eth0 up
  nsenter -t "$keeper" -n ip link set lo up
done
for ((host = 0; host < hosts; host++)); do
  PET_NNODES=$hosts PET_NODE_RANK=$host PET_MASTER_ADDR=10.77.0.1 GLOO_SOCKET_IFNAME=eth0 \
    nsenter -t "${keepers[host]}" -n "$@" &
  runs+=($!)
done
code=0
for run in "${runs[@]}"; do wait "$run" || code=$?; done
exit "$code"
