//! The choice of one wheel among those that a lock file allows.
//!
//! The choice depends on file names only, so that every machine makes the same one. A wheel for any platform is the first
//! choice. The others contain native files, which are left out, beside the same Python files.

use std::cmp::Reverse;

use super::index_page::File;

/// The release of CPython in the image, as in the tags of wheels.
const RELEASE: u32 = 314;
/// Parts of the tags of platforms, in the order of preference.
const PLATFORMS: [&str; 6] = ["manylinux", "musllinux", "linux", "macosx", "win", ""];
const PROCESSOR: &str = "x86_64";

/// The best wheel of these files.
pub fn choose_best<'f>(files: &[&'f File]) -> Option<&'f File> {
    files
        .iter()
        .filter_map(|file| Some((rank(&file.filename)?, *file)))
        .min_by(|(a, _), (b, _)| a.cmp(b))
        .map(|(_, file)| file)
}

/// The rank of a wheel, of which lower ones are better. `None` for other files.
fn rank(filename: &str) -> Option<impl Ord + use<>> {
    let mut tags = filename.strip_suffix(".whl")?.rsplitn(4, '-');
    let (platform, abi, python) = (tags.next()?, tags.next()?, tags.next()?);
    let is_pure = platform == "any" && abi == "none";
    let release = python.strip_prefix("cp").and_then(|release| release.parse::<u32>().ok()).unwrap_or_default();
    let fits = release <= RELEASE && (abi == "abi3" || abi == "none" || (release == RELEASE && abi == python));
    let family = PLATFORMS.iter().position(|family| platform.contains(family));
    let is_other_processor = !platform.contains(PROCESSOR);
    Some((!is_pure, !fits, Reverse(release), family, is_other_processor, filename.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose_name(names: &[&str]) -> Option<String> {
        let file = |name: &&str| File { filename: (*name).into(), url: String::new(), sha256: None, size: None };
        let files: Vec<_> = names.iter().map(file).collect();
        let forwards: Vec<_> = files.iter().collect();
        let backwards: Vec<_> = files.iter().rev().collect();
        assert_eq!(choose_best(&forwards), choose_best(&backwards));
        choose_best(&forwards).map(|file| file.filename.clone())
    }

    #[test]
    fn the_choice_does_not_depend_on_the_order_of_the_page() {
        let names = [
            "p-1.tar.gz",
            "p-1-cp313-cp313-manylinux_2_17_x86_64.whl",
            "p-1-cp314-cp314-win_amd64.whl",
            "p-1-cp314-cp314-macosx_11_0_arm64.whl",
            "p-1-cp314-cp314t-manylinux_2_17_x86_64.whl",
            "p-1-cp314-cp314-manylinux_2_17_aarch64.whl",
            "p-1-cp314-cp314-manylinux_2_17_x86_64.whl",
            "p-1-cp38-abi3-manylinux_2_17_x86_64.whl",
            "p-1-1-py2.py3-none-any.whl",
        ];
        for (count, expected) in [
            (9, "p-1-1-py2.py3-none-any.whl"),
            (8, "p-1-cp314-cp314-manylinux_2_17_x86_64.whl"),
            (6, "p-1-cp314-cp314-manylinux_2_17_aarch64.whl"),
            (4, "p-1-cp314-cp314-macosx_11_0_arm64.whl"),
            (2, "p-1-cp313-cp313-manylinux_2_17_x86_64.whl"),
        ] {
            assert_eq!(choose_name(&names[..count]).as_deref(), Some(expected));
        }
        assert_eq!(choose_name(&names[..1]), None);
    }
}
