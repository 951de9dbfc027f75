#!/usr/bin/env bash
# Lints the files in deploy/, without a network and without starting anything.
#
# Usage: lint.sh BIN
# BIN is the `bin` of a Python environment with requirements.txt installed. Needs Debian's `systemd` and `nginx-light`.
set -euo pipefail

bin=$(realpath "${1:?usage: $0 BIN}")
cd "$(dirname "${BASH_SOURCE[0]}")/../../deploy"

# Highest exposure that `systemd-analyze security` may find, in tenths: 29 of 100 is what is left of the hardening when
# builds and runs work.
readonly EXPOSURE_MAX=29

scratch=$(mktemp --directory)
trap 'rm --recursive --force "$scratch"' EXIT

"$bin/hadolint" Dockerfile
echo 'Dockerfile: ok'

"$bin/check-jsonschema" --builtin-schema vendor.compose-spec compose.yaml

"$bin/kubernetes-validate" --strict kubernetes/*.yaml kubernetes/examples/*.yaml

# The program that the unit starts need not be installed here.
sed "s,^ExecStart=[^ ]*,ExecStart=$(command -v true)," systemd/lathe.service > "$scratch/lathe.service"
systemd-analyze verify "$scratch/lathe.service" 2> "$scratch/verify.log" || true
if [[ -s $scratch/verify.log ]]; then
    cat "$scratch/verify.log"
    exit 1
fi
systemd-analyze security --offline=true --threshold="$EXPOSURE_MAX" "$scratch/lathe.service" | tail --lines 1
systemd-sysusers --dry-run "$PWD/systemd/lathe.sysusers.conf"

# The names of the nodes exist in the network of the Compose file only.
sed --regexp-extended "s/node-[0-9]+:8080/127.0.0.1:8080/; s,^pid .*,pid $scratch/nginx.pid;," nginx.conf > "$scratch/nginx.conf"
PATH=$PATH:/usr/sbin nginx -t -q -c "$scratch/nginx.conf"
echo 'nginx.conf: ok'
