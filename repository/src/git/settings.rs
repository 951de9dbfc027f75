//! The settings of repositories, and the files of a repository that only this module writes.
//!
//! [`crate::GitServer`] passes the settings to git with every request. They are also in each repository's file, so that they
//! protect an operator who runs git by hand. git reads further settings from that file, and some of them name programs that it
//! starts. Therefore the file is written anew before git first reads a repository.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use super::leftovers::UNFINISHED_PREFIX;

/// The directory of the hook, beside the repositories, whose names end with `.git`.
pub(crate) const HOOKS_DIRECTORY: &str = "hooks";

/// The settings of every repository. Forced pushes are allowed (`denyNonFastForwards` is off): teams rewrite their
/// branches, and pins keep published commits. The hook refuses the deletion of `main`.
pub(crate) const SETTINGS: [(&str, &str); 52] = [
    ("receive.fsckObjects", "true"),
    ("transfer.fsckObjects", "true"),
    // Faults of tools that made commits and trees before git checked them. Old histories have them, and no build reads these parts. The hook
    // refuses a commit without a date.
    ("receive.fsck.badTimezone", "ignore"),
    ("receive.fsck.missingEmail", "ignore"),
    ("receive.fsck.missingSpaceBeforeEmail", "ignore"),
    ("receive.fsck.missingNameBeforeEmail", "ignore"),
    ("receive.fsck.missingSpaceBeforeDate", "ignore"),
    ("receive.fsck.badEmail", "ignore"),
    ("receive.fsck.badName", "ignore"),
    ("receive.fsck.badDateOverflow", "ignore"),
    ("receive.fsck.zeroPaddedDate", "ignore"),
    ("receive.fsck.zeroPaddedFilemode", "ignore"),
    // Faults that the hook refuses by itself, with the path.
    ("receive.fsck.duplicateEntries", "ignore"),
    ("receive.fsck.fullPathname", "ignore"),
    ("receive.fsck.hasDot", "ignore"),
    ("receive.fsck.hasDotdot", "ignore"),
    ("receive.fsck.hasDotgit", "ignore"),
    ("receive.fsck.gitmodulesName", "ignore"),
    ("receive.fsck.gitmodulesPath", "ignore"),
    ("receive.fsck.gitmodulesUrl", "ignore"),
    ("receive.fsck.gitmodulesUpdate", "ignore"),
    ("receive.fsck.gitmodulesSymlink", "ignore"),
    // The same faults in a check of a whole repository.
    ("fsck.badTimezone", "ignore"),
    ("fsck.missingEmail", "ignore"),
    ("fsck.missingSpaceBeforeEmail", "ignore"),
    ("fsck.missingNameBeforeEmail", "ignore"),
    ("fsck.missingSpaceBeforeDate", "ignore"),
    ("fsck.badEmail", "ignore"),
    ("fsck.badName", "ignore"),
    ("fsck.badDateOverflow", "ignore"),
    ("fsck.zeroPaddedDate", "ignore"),
    ("fsck.zeroPaddedFilemode", "ignore"),
    ("receive.denyNonFastForwards", "false"),
    // Bytes of one push's pack. The hook bounds the inflated size.
    ("receive.maxInputSize", "100m"),
    // Packs are not unpacked: thousands of small files are slow, and use up the disk's inodes.
    ("receive.unpackLimit", "1"),
    ("receive.autogc", "false"),
    // Options have no effect, and the hook says so. A client with options in its settings could not push otherwise.
    ("receive.advertisePushOptions", "true"),
    ("transfer.hideRefs", "refs/lathe"),
    ("uploadpack.allowFilter", "false"),
    ("uploadpack.allowAnySHA1InWant", "false"),
    ("uploadpack.allowRefInWant", "false"),
    ("uploadarchive.allowUnreachable", "false"),
    ("protocol.allow", "never"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("pack.threads", "1"),
    // Larger files are streamed instead of loaded.
    ("core.bigFileThreshold", "1m"),
    ("core.packedGitWindowSize", "32m"),
    ("core.packedGitLimit", "256m"),
    // Caches far below the memory limit of a process.
    ("core.deltaBaseCacheLimit", "64m"),
    ("pack.deltaCacheSize", "64m"),
    ("core.logAllRefUpdates", "false"),
];

/// Files that name other directories, programs or rules, which no repository has.
const FOREIGN_FILES: [&str; 6] = [
    "config.worktree",
    "commondir",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "info/attributes",
    "info/grafts",
];

const CONFIG: &str = "config";

/// Writes the settings of a repository, and removes files that no repository has.
pub(crate) fn write_settings(repository: &Path) -> io::Result<()> {
    for name in FOREIGN_FILES {
        match fs::remove_file(repository.join(name)) {
            Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Err(error),
            _ => {}
        }
    }
    let (path, text) = (repository.join(CONFIG), render());
    let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    if is_file && fs::read(&path)? == text.as_bytes() {
        return Ok(());
    }
    let mut file = tempfile::Builder::new().prefix(UNFINISHED_PREFIX).tempfile_in(repository)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    File::open(repository)?.sync_all()
}

/// The settings in the format of git.
fn render() -> String {
    // git starts hooks in the repository's directory. The relative path stays valid when the data directory is moved.
    let hooks = format!("../{HOOKS_DIRECTORY}");
    let fixed = [
        ("core.repositoryFormatVersion", "0"),
        ("core.fileMode", "true"),
        ("core.bare", "true"),
        ("core.hooksPath", &hooks),
    ];
    let setting = |(name, value): (&str, &str)| {
        let (sections, key) = name.rsplit_once('.').unwrap_or((name, ""));
        match sections.split_once('.') {
            Some((section, part)) => format!("[{section} \"{part}\"]\n\t{key} = {value}\n"),
            None => format!("[{sections}]\n\t{key} = {value}\n"),
        }
    };
    fixed.into_iter().chain(SETTINGS).map(setting).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn settings_of_others_are_replaced_and_no_link_is_followed() {
        let directory = tempfile::tempdir().expect("a directory");
        let outside = directory.path().join("outside");
        fs::write(&outside, "[core]\n\tsshCommand = touch /tmp/planted\n").expect("a file");
        let repository = directory.path().join("acme.git");
        git2::Repository::init_bare(&repository).expect("a repository");
        fs::remove_file(repository.join(CONFIG)).expect("a file");
        symlink(&outside, repository.join(CONFIG)).expect("a link");
        fs::write(repository.join("objects/info/alternates"), "/elsewhere\n").expect("a file");
        fs::write(repository.join("commondir"), "/elsewhere\n").expect("a file");
        write_settings(&repository).expect("written");
        assert!(fs::read_to_string(&outside).expect("a file").contains("planted"), "the link's target is unchanged");
        assert!(!repository.join("objects/info/alternates").exists() && !repository.join("commondir").exists());
        let opened = git2::Repository::open_bare(&repository).expect("a repository");
        let config = opened.config().expect("settings").snapshot().expect("settings");
        for (name, value) in SETTINGS {
            assert_eq!(config.get_str(name).expect("a setting"), value, "{name}");
        }
        assert!(config.get_str("core.sshCommand").is_err());
        assert!(config.get_bool("core.bare").expect("a setting"));
    }
}
