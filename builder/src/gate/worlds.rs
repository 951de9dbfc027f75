//! Comparison of the WIT worlds of two versions: the interfaces that the tool imports, and the functions that it
//! exports.

use std::collections::BTreeSet;

use registry::{BumpKind, ToolWorld};
use semver::Version;

use super::change::Change;

/// The prefix of interfaces that language toolchains import: clocks, randomness, standard output and an empty file
/// system. They are the same for every tool, and depend on the compiler rather than the author.
const TOOLCHAIN_PREFIX: &str = "wasi:";
/// The export that builds call and invocations do not.
const BUILD_EXPORT: &str = "input-schema";

/// Compares two worlds.
pub fn compare(old: &ToolWorld, new: &ToolWorld) -> Vec<Change> {
    let another = compare_names(&old.name, &new.name);
    let (before, now) = (list_capabilities(old), list_capabilities(new));
    let more = now
        .difference(&before)
        .map(|name| Change { bump: BumpKind::Minor, reason: format!("the tool now needs {name} from its host") });
    let fewer = old.exports.iter().filter(|name| *name != BUILD_EXPORT && !new.exports.contains(name));
    let fewer =
        fewer.map(|name| Change { bump: BumpKind::Major, reason: format!("the tool does not export {name} any more") });
    another.into_iter().chain(fewer).chain(more).collect()
}

/// The change of the world's name. Only the name is known here, so that worlds are compatible only if their releases
/// are by their version numbers. A later compatible release concerns hosts, not callers.
fn compare_names(old: &str, new: &str) -> Option<Change> {
    let is_same = old == new || matches!((track(old), track(new)), (Some(old), Some(new)) if old == new);
    let reason =
        || format!("the tool is built for the world {new}, which is not compatible with the previous world {old}");
    (!is_same).then(|| Change { bump: BumpKind::Major, reason: reason() })
}

/// The name of a world, and the part of its release that compatible releases share.
fn track(name: &str) -> Option<(&str, [u64; 3])> {
    let (name, release) = name.split_once('@')?;
    let Version { major, minor, patch, pre, .. } = Version::parse(release).ok()?;
    let same = match (major, minor) {
        (0, 0) => [0, 0, patch],
        (0, _) => [0, minor, 0],
        _ => [major, 0, 0],
    };
    // A pre-release is compatible with itself only.
    pre.is_empty().then_some((name, same))
}

/// The names of imported interfaces, without the release, which the world's name states for all of them.
fn list_capabilities(world: &ToolWorld) -> BTreeSet<&str> {
    let imported = world.imports.iter().filter(|name| !name.starts_with(TOOLCHAIN_PREFIX));
    imported.map(|name| name.split_once('@').map_or(name.as_str(), |(name, _)| name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::find_needed_bump;

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
            ("an earlier release that fits", "0.1.4: http > run-tool", "0.1.0: http > run-tool", BumpKind::Patch),
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
            rows.map(|(name, old, new, bump)| (name, find_needed_bump(&compare(&world(old), &world(new))), bump));
        let wrong: Vec<_> = found.iter().filter(|(_, found, bump)| found != bump).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn another_world_of_the_same_release_breaks() {
        let old = world("1.0.0: > run-tool");
        let new = ToolWorld { name: "lathe:tool/agent@1.0.0".to_owned(), ..old.clone() };
        assert_eq!(find_needed_bump(&compare(&old, &new)), BumpKind::Major);
    }

    #[test]
    fn reasons_name_the_interface() {
        let changes = compare(&world("0.1.0: > run-tool"), &world("0.1.0: http > run-tool"));
        let reasons: Vec<_> = changes.into_iter().map(|change| change.reason).collect();
        assert_eq!(reasons, ["the tool now needs lathe:tool/http from its host"]);
    }
}
