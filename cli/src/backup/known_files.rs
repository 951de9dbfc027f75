//! The files that a backup has. A restore takes no others: a file of a repository such as `config` or a hook names programs that git
//! runs, and `objects/info/alternates` other directories that it reads.

use std::fs;
use std::path::Path;

use registry::{OrganizationId, StoredPack};

use super::damage::explain_damage;
use super::measured_file::FileEntry;

/// The database, which a backup has unless a server has it.
pub const DATABASE: &str = "lathe.db";
/// The master key, which a backup has if it was asked for.
pub const KEY: &str = "keys/master.key";

/// The characters of a digest and of git's name of a pack.
const DIGEST_CHARACTERS: usize = 64;
const PACK_CHARACTERS: usize = 40;

/// The path of a pack of a shared repository.
pub fn pack_file(organization: &OrganizationId, pack: &StoredPack) -> String {
    format!("packs/{}", pack.path_of(organization))
}

/// Whether backups have a file of this path. The digest in the path of a content is that of the file.
pub(super) fn is_written_by_backups(entry: &FileEntry) -> bool {
    let parts: Vec<&str> = entry.path.split('/').collect();
    let is_digest = |text: &str| text == entry.digest.to_hex();
    match parts[..] {
        _ if [DATABASE, KEY].contains(&entry.path.as_str()) => true,
        ["artifacts" | "bodies", folder, name] => is_digest(name) && name.starts_with(folder) && folder.len() == 2,
        ["packs", folder, name] => {
            let fence_and_digest = name.split_once('-');
            let is_known = |(fence, digest): (&str, &str)| is_number(fence) && is_digest(digest);
            is_hexadecimal(folder, DIGEST_CHARACTERS) && fence_and_digest.is_some_and(is_known)
        }
        ["git", repository, "packed-refs"] => is_repository(repository),
        ["git", repository, "objects", "pack", name] => is_repository(repository) && is_pack(name),
        _ => false,
    }
}

/// Requires a regular file that no symbolic link leads to: a link would add a file of this machine to the restored directory.
pub fn require_plain_file(backup: &Path, name: &str) -> anyhow::Result<()> {
    let mut path = backup.to_owned();
    for part in name.split('/') {
        path.push(part);
        let Ok(found) = fs::symlink_metadata(&path) else {
            return Err(explain_damage(&format!("{name} is missing")));
        };
        if found.is_symlink() {
            return Err(explain_damage(&format!("{name} is a symbolic link")));
        }
    }
    if path.is_file() { Ok(()) } else { Err(explain_damage(&format!("{name} is no file"))) }
}

/// The name of a repository's directory: an id of an organisation in lower case, after `=` and a hash for others.
fn is_repository(name: &str) -> bool {
    let Some(id) = name.strip_suffix(".git") else { return false };
    let is_known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"=.@_-".contains(&byte);
    !id.is_empty() && !id.starts_with('.') && id.bytes().all(is_known)
}

fn is_pack(name: &str) -> bool {
    let stem = name.strip_suffix(".pack").or_else(|| name.strip_suffix(".idx"));
    stem.and_then(|stem| stem.strip_prefix("pack-")).is_some_and(|name| is_hexadecimal(name, PACK_CHARACTERS))
}

fn is_hexadecimal(text: &str, characters: usize) -> bool {
    text.len() == characters && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use registry::Digest;

    use super::*;

    fn is_known(path: &str, digest: Digest) -> bool {
        is_written_by_backups(&FileEntry { path: path.to_owned(), bytes: 1, digest })
    }

    #[test]
    fn files_of_backups_are_known_and_no_others() {
        let digest = Digest::of(b"contents");
        let (hex, name) = (digest.to_hex(), "0123456789abcdef0123456789abcdef01234567");
        let pack = format!("packs/{}/12-{hex}", Digest::of(b"acme").to_hex());
        let known = [
            "lathe.db".to_owned(),
            "keys/master.key".to_owned(),
            format!("artifacts/{}/{hex}", &hex[..2]),
            format!("bodies/{}/{hex}", &hex[..2]),
            pack.clone(),
            "git/acme.git/packed-refs".to_owned(),
            format!("git/=00ff-a.b@c_d.git/objects/pack/pack-{name}.pack"),
            format!("git/acme.git/objects/pack/pack-{name}.idx"),
        ];
        for path in known {
            assert!(is_known(&path, digest), "{path}");
        }
        let unknown = [
            "",
            ".",
            "..",
            "/etc/passwd",
            "../lathe.db",
            "lathe.db/",
            "lathe.db-wal",
            "storage",
            "keys/other.key",
            "artifacts/00/00",
            "git/acme.git/config",
            "git/acme.git/HEAD",
            "git/acme.git/hooks/pre-receive",
            "git/hooks/pre-receive",
            "git/acme.git/objects/info/alternates",
            "git/acme.git/commondir",
            "git/acme.git/info/attributes",
            "git/acme.git/refs/heads/main",
            "git/acme.git/../acme.git/packed-refs",
            "git/acme/packed-refs",
            "git/.git/packed-refs",
            "git/../x.git/packed-refs",
            "git/acme.git//packed-refs",
            "git/acme.git/objects/pack/pack-0.pack",
            "git/acme.git/objects/pack/tmp_pack",
        ];
        for path in unknown {
            assert!(!is_known(path, digest), "{path}");
        }
        assert!(!is_known(&pack, Digest::of(b"other")), "the name has another digest");
        assert!(!is_known(&format!("packs/acme/12-{hex}"), digest));
    }
}
