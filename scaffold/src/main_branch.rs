//! The files of `main` in a hosted repository: a README, the scaffold's sources, and a complete example.

use crate::embedded::{distribution, main_branch_pages};
use crate::project::python;
use crate::{Error, File, ProjectName};

const EXAMPLE: &str = "example_tool";

/// Returns the whole tree, sorted by path. It is the same for every organisation of a release.
pub fn main_branch() -> Result<Vec<File>, Error> {
    let name = ProjectName::parse(EXAMPLE)?;
    let scaffold = distribution().into_iter().map(|file| file.below("scaffold"));
    let example = python(&name).into_iter().map(|file| file.below(&name.project_path()));
    let mut files: Vec<File> = main_branch_pages().into_iter().chain(scaffold).chain(example).collect();
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_holds_the_page_the_scaffold_and_the_example() {
        let files = main_branch().expect("the example has a good name");
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        for expected in [
            "README.md",
            "scaffold/pyproject.toml",
            "scaffold/amigo_tool_scaffold/user_variables.py",
            "tools/example_tool/pyproject.toml",
            "tools/example_tool/tool.py",
        ] {
            assert!(paths.contains(&expected), "{expected} is missing from {paths:?}");
        }
        assert!(paths.windows(2).all(|pair| pair[0] < pair[1]), "sorted, and no path twice: {paths:?}");
    }
}
