#!/usr/bin/env bash
# Installs what `just bench-peers` measures beside Lathe into FOLDER/bin. What is there already stays.
set -euo pipefail

readonly WASMTIME=48.0.8 WORKERD=1.20261117.1
# What `wasmtime serve` needs, with what makes it fast. Its other features are other commands and proposals.
readonly FEATURES=run,serve,cranelift,component-model,component-model-async,pooling-allocator,parallel-compilation,cache

folder=${1:?usage: install.sh FOLDER}
mkdir -p "$folder/bin"

if [[ $("$folder/bin/wasmtime" --version 2> /dev/null) != "wasmtime $WASMTIME"* ]]; then
    printf 'wasmtime-cli %s is built, which takes some minutes\n' "$WASMTIME"
    cargo install --locked --force --version "$WASMTIME" --root "$folder" --no-default-features --features "$FEATURES" wasmtime-cli
fi

npm="$folder/workerd-$WORKERD"
if ! compgen -G "$npm/node_modules/@cloudflare/workerd-*/bin/workerd" > /dev/null; then
    # Its script would only put the program where `.bin` has it.
    npm install --prefix "$npm" --ignore-scripts --no-audit --no-fund "workerd@$WORKERD"
fi
programs=("$npm"/node_modules/@cloudflare/workerd-*/bin/workerd)
ln -sf "$(realpath "${programs[0]}")" "$folder/bin/workerd"
"$folder/bin/workerd" --version
