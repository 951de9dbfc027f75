//! The checked-in images of the languages match their recipes.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;

use super::{none, root};

/// The folder of an image, and the command that builds it.
const IMAGES: [(&str, &str); 2] =
    [("python_image", "just python-image"), ("javascript_image", "just javascript-image")];

#[test]
fn the_images_match_their_recipes() {
    let scaffold = root().join("scaffold");
    let mut findings = Vec::new();
    for (image, command) in IMAGES {
        let listed = Command::new(scaffold.join("image_sources.sh")).arg(image).output().expect("a shell");
        assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
        let now = String::from_utf8(listed.stdout).expect("names in UTF-8");
        let recorded = fs::read_to_string(scaffold.join(image).join("recipe.sha256")).expect("the recorded digests");
        let changed = now.lines().filter(|line| !recorded.contains(line));
        let gone = recorded.lines().filter(|line| !now.contains(line));
        findings.extend(changed.chain(gone).map(|line| format!("scaffold/{image}: {line}; run `{command}`")));
    }
    none("an image is older than its sources", &findings);
}

/// Packages that make the image and are not part of it.
const TOOLS: [&str; 2] = ["@bytecodealliance/preview2-shim", "esbuild"];

/// `LICENSES.txt` has a section for each package, whose name and release stand between two lines of dashes.
#[test]
fn the_licences_of_the_javascript_image_are_those_of_its_packages() {
    let read = |name: &str| fs::read_to_string(root().join("scaffold/javascript_image").join(name)).expect("a file");
    let json = |name: &str| -> Value { serde_json::from_str(&read(name)).expect("JSON") };
    let line = format!("{}\n", "-".repeat(80));
    let (texts, lock, direct) = (read("LICENSES.txt"), json("package-lock.json"), json("package.json"));
    let parts: Vec<_> = texts.split(&line).skip(1).collect();
    let heads: BTreeSet<_> =
        parts.chunks(2).map(|part| part[0].split(" (").next().unwrap_or_default().trim()).collect();
    let packages = lock["packages"].as_object().expect("an object").iter();
    let locked: BTreeSet<_> = packages.map(|(path, package)| name_and_release(path, package)).collect();
    let needed = direct["dependencies"].as_object().expect("an object").keys();
    let needed = needed.filter(|name| !TOOLS.contains(&name.as_str()));
    let missing = needed.filter(|name| !heads.iter().any(|head| head.starts_with(&format!("{name} "))));
    let empty = parts.chunks(2).filter(|part| part.get(1).is_none_or(|text| text.trim().len() < 100));
    let mut findings: Vec<_> = missing.map(|name| format!("no licence of {name}")).collect();
    findings.extend(empty.map(|part| format!("no text for {}", part[0])));
    findings.extend(heads.iter().filter(|head| !locked.contains(**head)).map(|head| format!("{head} is not locked")));
    none("LICENSES.txt of the JavaScript image; run `just javascript-image`", &findings);
}

/// Name and release of a package in the lock file.
fn name_and_release(path: &str, package: &Value) -> String {
    let name = path.rsplit("node_modules/").next().unwrap_or_default();
    format!("{name} {}", package["version"].as_str().unwrap_or_default())
}
