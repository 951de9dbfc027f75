//! The bindings in the Rust package match the WIT world. They are checked in, so that no tool has to build the
//! generator. `INSTA_UPDATE=always cargo test -p scaffold` generates them again.

use std::path::Path;

use wit_bindgen_core::wit_parser::Resolve;
use wit_bindgen_core::{Files, WorldGenerator};
use wit_bindgen_rust::Opts;

const HEAD: &str =
    "//! The boundary between a tool and its host, generated from its WIT; a test of `scaffold` keeps it so.\n\n";

fn generated(wit: &Path) -> String {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(wit).expect("WIT");
    let world = resolve.select_world(&[package], Some("described-tool")).expect("the world");
    let options = Opts {
        runtime_path: Some("crate::runtime".to_owned()),
        disable_run_ctors_once_workaround: true,
        pub_export_macro: true,
        generate_all: true,
        format: true,
        ..Opts::default()
    };
    let mut files = Files::default();
    options.build().generate(&mut resolve, world, &mut files).expect("bindings");
    let (_, text) = files.iter().next().expect("one file");
    format!("{HEAD}{}", std::str::from_utf8(text).expect("text"))
}

#[test]
fn the_bindings_are_those_of_the_world() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (expected, path) = (generated(&here.join("wit")), here.join("rust/sdk/src/bindings.rs"));
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        std::fs::write(&path, &expected).expect("written");
    }
    let found = std::fs::read_to_string(&path).expect("bindings");
    assert!(found == expected, "the world has changed: INSTA_UPDATE=always cargo test -p scaffold --test bindings");
}
