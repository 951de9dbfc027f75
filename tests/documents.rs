//! The commands of the README, the tutorial and the guides, run as their reader would run them: with the real program, a real
//! server and the real git. `documents/shell.rs` tells what is replaced.

mod guides;
mod shell;

use std::path::Path;

use crate::harness::{Options, Server};
use shell::{Shell, blocks};

/// The document, and the text before its first block that the reader runs in the second terminal.
fn follow(document: &str, is_changed_before: Option<&str>) {
    let server = Server::private(&Options::default());
    let mut shell = Shell::on(&server, server.data().parent().expect("a parent"));
    for block in blocks(document) {
        if is_changed_before.is_some_and(|text| block.contains(text)) {
            change_the_greeting(&shell.directory());
        }
        // The tutorial shows a run that fails, and a replay that differs.
        let shows_failure = block.contains("\"times\": 0") || block.contains("--version '>=1.0.1'");
        let said = shell.run(&block);
        // curl succeeds whatever the server answers.
        assert!(
            !block.contains("curl") || said.stdout.contains("\"succeeded\":true"),
            "{document}:\n{block}\n{said:?}"
        );
        assert_eq!(said.code, Some(i32::from(shows_failure)), "{document}:\n{block}\n{said:?}");
    }
}

/// What the tutorial asks its reader to do in an editor.
fn change_the_greeting(clone: &Path) {
    for file in ["tool.py", "checks/example.json", "checks/more.json"] {
        let path = clone.join("tools/greet").join(file);
        let text = std::fs::read_to_string(&path).expect("a file of the template");
        std::fs::write(path, text.replace("Hello", "Good day")).expect("written");
    }
}

#[test]
fn the_commands_of_the_readme_work() {
    follow("README.md", None);
}

#[test]
fn the_commands_of_the_tutorial_work() {
    follow("docs/tutorial-first-tool.md", Some("lathe tool publish greet --bump auto"));
}

/// A guide without a test would be the first to have a command that does not work.
#[test]
fn every_guide_has_a_test() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/how-to");
    for entry in directory.read_dir().expect("the guides") {
        let name = entry.expect("a guide").file_name().into_string().expect("UTF-8");
        let has_commands = !blocks(&format!("docs/how-to/{name}")).is_empty();
        assert_eq!(guides::TESTED.contains(&name.as_str()), has_commands, "{name}");
    }
}
