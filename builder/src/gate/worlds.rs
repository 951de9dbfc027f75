//! What a tool needs of its host, and what its host calls of it.

use std::collections::BTreeSet;

use registry::{BumpKind, ToolWorld};
use semver::Version;

use super::Change;

/// What languages bring along for themselves. Behind it are clocks, randomness, what a run prints and an empty file system,
/// for every tool the same, so that it tells of compilers and not of authors.
const OF_LANGUAGES: &str = "wasi:";
/// Asked when a version is made, and by no call.
const OF_BUILDS: &str = "input-schema";

/// Versions of releases that kept no word on it are taken to need the same.
pub fn changes(old: Option<&ToolWorld>, new: Option<&ToolWorld>) -> Vec<Change> {
    let (Some(old), Some(new)) = (old, new) else { return Vec::new() };
    let another = another_world(&old.name, &new.name);
    let (before, now) = (capabilities(old), capabilities(new));
    let more = now.difference(&before).map(|name| Change {
        bump: BumpKind::Minor,
        reason: format!("the tool needs {name} of its host, which it did not"),
    });
    let fewer = old.exports.iter().filter(|name| *name != OF_BUILDS && !new.exports.contains(name));
    let fewer =
        fewer.map(|name| Change { bump: BumpKind::Major, reason: format!("the tool does not export {name} any more") });
    another.into_iter().chain(fewer).chain(more).collect()
}

/// What a world gives to a tool and takes from it, nothing here knows but its name. So only releases that promise to
/// be compatible are; a later one of these is for hosts to have, and for no caller to notice.
fn another_world(old: &str, new: &str) -> Option<Change> {
    let is_same = old == new || matches!((track(old), track(new)), (Some(old), Some(new)) if old == new);
    let reason =
        || format!("the tool is built for the world {new}, and was for {old}, which promises nothing about it");
    (!is_same).then(|| Change { bump: BumpKind::Major, reason: reason() })
}

/// A name without what compatible releases may differ in.
fn track(name: &str) -> Option<(&str, [u64; 3])> {
    let (name, release) = name.split_once('@')?;
    let Version { major, minor, patch, pre, .. } = Version::parse(release).ok()?;
    let same = match (major, minor) {
        (0, 0) => [0, 0, patch],
        (0, _) => [0, minor, 0],
        _ => [major, 0, 0],
    };
    // What comes before a release is compatible with itself alone.
    pre.is_empty().then_some((name, same))
}

/// Interfaces by their names: of which release they are the world says for all of them.
fn capabilities(world: &ToolWorld) -> BTreeSet<&str> {
    let imported = world.imports.iter().filter(|name| !name.starts_with(OF_LANGUAGES));
    imported.map(|name| name.split_once('@').map_or(name.as_str(), |(name, _)| name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::needed;

    /// `release: interfaces > exports`; an interface with a colon is one of another package.
    fn world(text: &str) -> ToolWorld {
        let (release, rest) = text.split_once(": ").unwrap();
        let (imports, exports) = rest.split_once('>').unwrap();
        let interface = |name: &str| match name.contains(':') {
            true => name.to_owned(),
            false => format!("lathe:tool/{name}@{release}"),
        };
        ToolWorld {
            name: format!("lathe:tool/tool@{release}"),
            imports: imports.split_whitespace().map(interface).collect(),
            exports: exports.split_whitespace().map(str::to_owned).collect(),
        }
    }

    #[test]
    fn every_change_of_a_world_needs_its_bump() {
        let rows = [
            ("nothing", "0.1.0: http types > run-tool", "0.1.0: http types > run-tool", BumpKind::Patch),
            ("requests", "0.1.0: types > run-tool", "0.1.0: http types > run-tool", BumpKind::Minor),
            ("status events", "0.1.0: types > run-tool", "0.1.0: status types > run-tool", BumpKind::Minor),
            ("no requests any more", "0.1.0: http types > run-tool", "0.1.0: types > run-tool", BumpKind::Patch),
            ("one for another", "0.1.0: http > run-tool", "0.1.0: status > run-tool", BumpKind::Minor),
            ("all for nothing", "0.1.0: http status types > run-tool", "0.1.0: > run-tool", BumpKind::Patch),
            ("of nobody known", "0.1.0: > run-tool", "0.1.0: acme:queue/send@1.0.0 > run-tool", BumpKind::Minor),
            ("a clock", "0.1.0: > run-tool", "0.1.0: wasi:clocks/wall-clock@0.2.6 > run-tool", BumpKind::Patch),
            ("randomness", "0.1.0: > run-tool", "0.1.0: wasi:random/random@0.2.6 > run-tool", BumpKind::Patch),
            (
                "another toolchain",
                "0.1.0: wasi:io/poll@0.2.3 > run-tool",
                "0.1.0: wasi:io/poll@0.2.6 > run-tool",
                BumpKind::Patch,
            ),
            ("a schema more", "0.1.0: > run-tool", "0.1.0: > input-schema run-tool", BumpKind::Patch),
            ("a schema from a file", "0.1.0: > input-schema run-tool", "0.1.0: > run-tool", BumpKind::Patch),
            ("an export more", "0.1.0: > run-tool", "0.1.0: > run-tool cancel", BumpKind::Patch),
            ("an export less", "0.1.0: > run-tool cancel", "0.1.0: > run-tool", BumpKind::Major),
            ("another export", "0.1.0: > run-tool", "0.1.0: > run", BumpKind::Major),
            ("less and more", "0.1.0: > run-tool cancel", "0.1.0: http > run-tool", BumpKind::Major),
            ("a release that fits", "0.1.0: http > run-tool", "0.1.4: http > run-tool", BumpKind::Patch),
            ("one of before that fits", "0.1.4: http > run-tool", "0.1.0: http > run-tool", BumpKind::Patch),
            ("that fits, with more", "0.1.0: http > run-tool", "0.1.4: http queue > run-tool", BumpKind::Minor),
            ("a release that breaks", "0.1.0: http > run-tool", "0.2.0: http > run-tool", BumpKind::Major),
            ("the first of a promise", "0.1.0: http > run-tool", "1.0.0: http > run-tool", BumpKind::Major),
            ("a later major one", "1.4.0: http > run-tool", "2.0.0: > run-tool", BumpKind::Major),
            ("back from it", "2.0.0: http > run-tool", "1.4.0: http > run-tool", BumpKind::Major),
            ("a later minor one", "1.0.0: http > run-tool", "1.4.2: http > run-tool", BumpKind::Patch),
            ("of no promise at all", "0.0.1: http > run-tool", "0.0.2: http > run-tool", BumpKind::Major),
            ("before its release", "1.0.0-rc.1: http > run-tool", "1.0.0: http > run-tool", BumpKind::Major),
            ("no release", "next: http > run-tool", "other: http > run-tool", BumpKind::Major),
        ];
        let found =
            rows.map(|(name, old, new, bump)| (name, needed(&changes(Some(&world(old)), Some(&world(new)))), bump));
        let wrong: Vec<_> = found.iter().filter(|(_, found, bump)| found != bump).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn what_is_not_known_is_no_change() {
        let world = world("2.0.0: http status > run-tool");
        assert_eq!(changes(None, Some(&world)), []);
        assert_eq!(changes(Some(&world), None), []);
    }

    #[test]
    fn another_world_of_the_same_release_breaks() {
        let old = world("1.0.0: > run-tool");
        let new = ToolWorld { name: "lathe:tool/agent@1.0.0".to_owned(), ..old.clone() };
        assert_eq!(needed(&changes(Some(&old), Some(&new))), BumpKind::Major);
    }

    #[test]
    fn reasons_name_the_interface() {
        let changes = changes(Some(&world("0.1.0: > run-tool")), Some(&world("0.1.0: http > run-tool")));
        let reasons: Vec<_> = changes.into_iter().map(|change| change.reason).collect();
        assert_eq!(reasons, ["the tool needs lathe:tool/http of its host, which it did not"]);
    }
}
