#!/bin/sh
# Prints the digests of an image and of all files that it was made from: `scaffold/image_sources.sh python_image`.
set -eu
cd "$(dirname "$0")/$1"
export LC_ALL=C
case $1 in
    python_image) sources='recipe/Cargo.lock recipe/Cargo.toml recipe/build.rs recipe/src ../python/amigo_tool_scaffold ../flatten/Cargo.toml' ;;
    javascript_image) sources='LICENSES.txt build.mjs generate.mjs licenses.mjs polyfills package-lock.json package.json ../flatten/examples/finish.rs ../flatten/Cargo.toml' ;;
esac
# shellcheck disable=SC2086 # a list of words
find image.wasm.zst $sources shim ../flatten/src ../wit -type f ! -path '*/__pycache__/*' | sort | xargs sha256sum
