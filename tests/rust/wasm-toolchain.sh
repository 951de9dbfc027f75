#!/usr/bin/env bash
# Builds a Rust toolchain for wasm32-wasip2 from Debian's packages and the installed rustup toolchain, for machines
# that reach package registries and no rustup server. On other machines run `rustup target add wasm32-wasip2`.
#
# Usage: wasm-toolchain.sh FOLDER
# FOLDER has the layout of a rustup toolchain: bin/cargo, bin/rustc and lib/rustlib. A server's settings can name it as
# `rust_toolchain`. Nothing is installed. Needs Debian 12 with its security updates in apt's lists, dpkg, rustup with
# Rust 1.95 or later, and crates.io. Takes about three minutes and 750 MB.
set -euo pipefail

folder=${1:?usage: $0 FOLDER}
if [[ -e $folder/complete ]]; then exit 0; fi

work=$(mktemp --directory)
trap 'rm --recursive --force "$work"' EXIT

host=$(rustc --version --verbose | sed --quiet 's/^host: //p')
multiarch=${host/-unknown/}
target=wasm32-wasip2
installed=$(rustc --print sysroot)

fail() {
    printf '%s\n' "$1" >&2
    exit 1
}

# The standard library is compiled from the sources of the same compiler release. Debian packages both, to build
# browsers.
version=$(apt-cache policy rustc-web | sed --quiet 's/ *Candidate: //p')
if [[ -z $version || $version == '(none)' ]]; then
    fail 'apt knows no rustc-web: run apt-get update on Debian 12 with bookworm-security'
fi
release=$(sed --regexp-extended 's/^([0-9]+\.[0-9]+).*/\1/' <<< "$version")
llvm=$(apt-cache depends "libstd-rust-web-$release" | sed --quiet --regexp-extended 's/.*(libllvm[0-9]+).*/\1/p' | sort --unique)

mkdir "$work/packages" "$work/unpacked"
(
    cd "$work/packages"
    apt-get -qq download "rustc-web=$version" "rust-web-src=$version" "libstd-rust-web-dev=$version" \
        "libstd-rust-web-$release=$version" "$llvm" wasi-libc
)
for package in "$work"/packages/*.deb; do dpkg-deb --extract "$package" "$work/unpacked"; done

# The compiler needs LD_LIBRARY_PATH to find its libraries in this directory.
toolchain=$work/toolchain
mkdir --parents "$toolchain/bin" "$toolchain/lib"
mv "$work/unpacked/usr/bin/rustc" "$toolchain/lib/rustc"
mv "$work/unpacked/usr/lib/rustlib" "$toolchain/lib/rustlib"
mkdir "$toolchain/lib/$multiarch"
find "$work/unpacked/usr/lib/$multiarch" -maxdepth 1 \( -type f -o -type l \) -exec mv -t "$toolchain/lib/$multiarch" {} +
cat > "$toolchain/bin/rustc" << SCRIPT
#!/bin/sh
lib=\$(dirname -- "\$(dirname -- "\$(readlink -f -- "\$0")")")/lib
LD_LIBRARY_PATH=\$lib/$multiarch exec "\$lib/rustc" "\$@"
SCRIPT
chmod +x "$toolchain/bin/rustc"

# Debian's cargo needs further libraries; rustup's is linked statically. Its linkers look for LLVM beside them.
cp "$installed/bin/cargo" "$toolchain/bin/cargo"
cp "$installed"/lib/libLLVM.so.* "$toolchain/lib/"
mkdir --parents "$toolchain/lib/rustlib/$host/bin"
cp --recursive --no-clobber "$installed/lib/rustlib/$host/bin/." "$toolchain/lib/rustlib/$host/bin/"

# An empty crate makes cargo build the standard library, with bitcode so that tools can be optimised together with it.
rm --recursive --force "$toolchain/lib/rustlib/src"
mkdir --parents "$toolchain/lib/rustlib/src/rust"
mv "$work"/unpacked/usr/src/rustc-*/library "$toolchain/lib/rustlib/src/rust/library"
seed=$work/seed
mkdir --parents "$seed/src"
touch "$seed/src/lib.rs"
printf '[package]\nname = "seed"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n' > "$seed/Cargo.toml"
(
    cd "$seed"
    unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS
    RUSTC="$toolchain/bin/rustc" RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS='-Cembed-bitcode=yes' \
        CARGO_TARGET_DIR="$seed/target" \
        cargo build --quiet --release --target $target -Zbuild-std=std,panic_abort,panic_unwind
)
libraries=$toolchain/lib/rustlib/$target/lib
mkdir --parents "$libraries/self-contained"
find "$seed/target/$target/release/deps" -name '*.rlib' ! -name 'libseed*' -exec cp -t "$libraries" {} +
cp "$work"/unpacked/usr/lib/wasm32-wasi/{crt1-command.o,crt1-reactor.o,libc.a} "$libraries/self-contained/"
rm --recursive --force "$toolchain/lib/rustlib/src"

touch "$toolchain/complete"
mkdir --parents "$(dirname "$folder")"
mv --no-target-directory "$toolchain" "$folder"
du --summarize --human-readable "$folder"
