#!/usr/bin/env bash
# Installs the programs that `just bench-peers` compares with Lathe into FOLDER/bin. Installed programs are kept.
set -euo pipefail

readonly WASMTIME=48.0.8 WORKERD=1.20261117.1
# The features of `wasmtime serve` and its optimisations. The others are for other commands and proposals.
readonly FEATURES=run,serve,cranelift,component-model,component-model-async,pooling-allocator,parallel-compilation,cache

folder=${1:?usage: install.sh FOLDER}
mkdir -p "$folder/bin"

if [[ $("$folder/bin/wasmtime" --version 2> /dev/null) != "wasmtime $WASMTIME"* ]]; then
    printf 'wasmtime-cli %s is built, which takes some minutes\n' "$WASMTIME"
    cargo install --locked --force --version "$WASMTIME" --root "$folder" --no-default-features --features "$FEATURES" wasmtime-cli
fi

npm="$folder/workerd-$WORKERD"
if ! compgen -G "$npm/node_modules/@cloudflare/workerd-*/bin/workerd" > /dev/null; then
    # The package's script would only copy the program to `.bin`.
    npm install --prefix "$npm" --ignore-scripts --no-audit --no-fund "workerd@$WORKERD"
fi
programs=("$npm"/node_modules/@cloudflare/workerd-*/bin/workerd)
ln -sf "$(realpath "${programs[0]}")" "$folder/bin/workerd"
"$folder/bin/workerd" --version
