//! Exports `getrandom` of `main.rs`, so that dynamic lookups of the symbol find it.

fn main() {
    println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol=getrandom");
}
