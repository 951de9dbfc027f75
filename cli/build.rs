//! Links the program of the development profile at a fixed address.
//!
//! Without optimisation, the program has 400,000 relocations, most of them in tables of methods. A start would spend half of its time on
//! them, and the tests start it fifteen thousand times. The program of a release has them applied at each start, so that its
//! addresses are random.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("PROFILE").as_deref() == Ok("debug") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
