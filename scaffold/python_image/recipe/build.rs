//! Makes the `getrandom` of `main.rs` visible to callers that look it up by its name.

fn main() {
    println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol=getrandom");
}
