//! Refuses files whose bytes only stand for their content. A build with such a file would take the pointer for the data.

use std::collections::BTreeMap;

use repository::{StandIn, find_stand_in};

use crate::error::{Error, Location};

const STAGE: &str = "checkout";

/// Refuses a project with a file that only stands for its content.
///
/// # Errors
/// The first such file, with the commands that commit its content.
pub fn refuse(files: &BTreeMap<String, Vec<u8>>) -> Result<(), Error> {
    for (path, bytes) in files {
        if let Some(found) = find_stand_in(bytes) {
            return Err(Error::failed(STAGE, "stand-in", explain(path, found)).at(Location::file(path)));
        }
    }
    Ok(())
}

fn explain(path: &str, found: StandIn) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    match found {
        StandIn::Lfs { bytes } => {
            let size = bytes.map_or_else(String::new, |bytes| format!(" of {bytes} bytes"));
            format!(
                "the file is a pointer of Git LFS for a file{size}, which is not in this repository. Commit the file itself: `git lfs pull \
                 && git lfs untrack {name} && git add --renormalize .`, then commit and push"
            )
        }
        StandIn::Annex => format!(
            "the file is a pointer of git-annex for a file that is not in this repository. Commit the file itself: `git annex get {name} \
             && git annex unannex {name} && git -c annex.largefiles=nothing add {name}`, then commit and push"
        ),
        StandIn::Crypt => {
            "the file is encrypted by git-crypt, and a build has no key of it. Give a secret as a variable (`lathe envvar set --secret`), or \
             commit the file without its filter in .gitattributes"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> Option<String> {
        let files = BTreeMap::from([("data/model.bin".to_owned(), bytes.to_vec()), ("tool.py".to_owned(), Vec::new())]);
        refuse(&files).err().map(|error| error.to_string())
    }

    #[test]
    fn files_that_stand_for_others_are_refused_by_name() {
        let lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        for (bytes, words) in [
            (lfs.as_bytes(), ["pointer of Git LFS for a file of 12345 bytes", "git lfs untrack model.bin"]),
            (&b"version https://hawser.github.com/spec/v1\n"[..], ["pointer of Git LFS for a file,", "git lfs pull"]),
            (&b"/annex/objects/SHA256E-s5--0.bin\n"[..], ["pointer of git-annex", "git annex unannex model.bin"]),
            (&b"\0GITCRYPT\0\x01\x02"[..], ["encrypted by git-crypt", "lathe envvar set --secret"]),
        ] {
            let refusal = refused(bytes).expect("a refusal");
            assert!(refusal.contains("data/model.bin: "), "{refusal}");
            assert!(words.iter().all(|word| refusal.contains(word)), "{refusal}");
        }
        assert_eq!(refused(b"the model"), None);
    }
}
