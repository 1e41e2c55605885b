#!/usr/bin/env bash
# One training over several hosts: network namespaces of this machine, each with an address, a name and a disk of its own.
#   tests/app/hosts.sh TAPEHEAD TAPEHEAD_WITH_MPI|none
set -euo pipefail
# shellcheck source=tests/app/mpirun.sh
source "$(dirname "${BASH_SOURCE[0]}")/mpirun.sh"

skip() {
  echo "SKIPPED: $1, so nothing was trained over a network"
  exit 77
}
command -v ip > /dev/null || skip "ip is not installed (apt-get install iproute2)"
net=tapehead-$$
ip netns add "$net" 2> /dev/null || skip "this machine lets nobody make network namespaces here (that takes root)"

# A switch, and three hosts at it: 10.77.0.1 to 10.77.0.3.
names=(one two three)
take_down() {
  local name
  for name in "${names[@]}" ''; do
    ip netns pids "$net${name:+-$name}" 2> /dev/null | xargs --no-run-if-empty kill -KILL 2> /dev/null || true
    ip netns delete "$net${name:+-$name}" 2> /dev/null || true
  done
  rm -rf "$scratch"
}
trap take_down EXIT
ip -n "$net" link add switch type bridge
ip -n "$net" link set switch up
for i in 0 1 2; do
  name=${names[i]}
  ip netns add "$net-$name"
  ip -n "$net" link add "to-$name" type veth peer name eth0 netns "$net-$name"
  ip -n "$net" link set "to-$name" master switch
  ip -n "$net" link set "to-$name" up
  ip -n "$net-$name" address add "10.77.0.$((i + 1))/24" dev eth0
  ip -n "$net-$name" link set eth0 up
  ip -n "$net-$name" link set lo up
  mkdir -p "disk-$name"
  cp tiny.toml "disk-$name"
  echo "10.77.0.$((i + 1)) slots=2" >> hosts
done
mkdir work

# on NAME COMMAND...: runs it on that host, whose disk is at work/.
cat > on << EOT
#!/usr/bin/env bash
set -euo pipefail
exec ip netns exec "$net-\$1" unshare --uts --mount bash -c '
  hostname "\$0"
  mount --bind "$scratch/disk-\$0" "$scratch/work"
  cd "$scratch/work"
  exec "\$@"' "\$@"
EOT
# What mpirun has in place of ssh: it names a host by its address, and gives it the words of one command line.
cat > agent << EOT
#!/usr/bin/env bash
set -euo pipefail
names=(${names[*]})
name=\${names[\${1##*.} - 1]}
shift
exec "$scratch/on" "\$name" bash -c "\$*"
EOT
chmod +x on agent

# mpirun on host one, with two processes on each.
launch=(./on one mpirun --hostfile ../hosts --bind-to none --mca plm_rsh_agent "$scratch/agent"
  --mca btl "self,vader,tcp" --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24)
sent_by() { ip netns exec "$net-$1" cat /sys/class/net/eth0/statistics/tx_bytes; }

# The bits of one process; rank 0's host alone keeps the run; and what was counted has gone over the wire.
settings=(--set train.shard=1 --set train.batch=6 --set model.dropout=0.1 --set model.width=64 --set train.steps=100)
expect 0 train tiny.toml --out alone "${settings[@]}"
before=$(sent_by two)
joint 0 6 train tiny.toml --out joint "${settings[@]}"
says "on 6 ranks of"
same_run alone disk-one/joint 000100
check_not "$call: expected nothing on the other disks" test -e disk-two/joint
parameters=$(grep --only-matching 'training [0-9,]* parameters' err | tr --delete --complement '0-9')
# Two ranks of six each send a sixth to the four on other hosts, and what they have summed.
check "$call: expected host two to send its share, got $(($(sent_by two) - before)) bytes of $parameters parameters" \
  test $(($(sent_by two) - before)) -gt $((100 * parameters * 4))

# A host with another config is named.
sed --in-place 's/^batch = 5/batch = 4/' disk-three/tiny.toml
joint 2 6 train tiny.toml --out refused
says "error: [ranks] rank 4 on three has another config: train.batch is 4 there and 5 on rank 0"
check_not "$call: expected no run" test -e disk-one/refused

# A host that goes away ends the job, and the run goes on without it, to the same bits.
long=("${settings[@]}" --set train.steps=2000 --set train.checkpoint_interval=10)
cp disk-two/tiny.toml disk-three/tiny.toml
expect 0 train tiny.toml --out undisturbed "${long[@]}"
call="host three lost"
"${launch[@]}" -n 6 "$program_with_mpi" train tiny.toml --out lost "${long[@]}" > out 2> err < /dev/null &
job=$!
while [ ! -e disk-one/lost/checkpoints/step-000020.safetensors ] && kill -0 "$job" 2> /dev/null; do sleep 0.05; done
ip netns pids "$net-three" | xargs kill -KILL
status=0
wait "$job" || status=$?
check "$call: expected mpirun to fail, got $status: $(head -c 1000 err)" test "$status" -ne 0
check_not "$call: expected the run to be cut short" test -e disk-one/lost/checkpoints/step-002000.safetensors
joint 0 4 train --resume lost
same_run undisturbed disk-one/lost 002000
finish
