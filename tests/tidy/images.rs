//! The checked-in images of the languages match their recipes.

use std::fs;
use std::process::Command;

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
