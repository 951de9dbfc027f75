//! Lines of a lock file that name no package of an index: directories of a workspace, and options of pip.

/// Explains a line that is a directory or an option. `None` for any other line.
pub fn explain(requirement: &str) -> Option<&'static str> {
    let requirement = requirement.trim();
    let editable = ["-e ", "--editable ", "--editable="].iter().find_map(|option| requirement.strip_prefix(option));
    let source = requirement.split_once(" @ ").map_or(requirement, |(_, source)| source.trim_start());
    let is_path = |text: &str| {
        let text = text.trim_start();
        text.starts_with("file:") || text.starts_with('.') || text.starts_with('/')
    };
    if editable.is_some() || is_path(source) {
        return Some(
            "it is a directory, and a build has only the files of this project. A package of a workspace comes from the package index, or \
             its modules lie in the project; leave it out of the lock file with --no-emit-workspace or --no-emit-local of `uv export`",
        );
    }
    requirement.starts_with('-').then_some(
        "it is an option of pip, and a build goes by the server's package index alone; remove the line, or make the file without it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_an_index_need_no_explanation() {
        for package in
            ["six==1.16.0", "a @ https://host.example/a.whl", "six==1.16.0 ; python_version > '3'", "${HOME}==1"]
        {
            assert_eq!(explain(package), None, "{package}");
        }
    }

    #[test]
    fn directories_and_options_are_told_apart() {
        for directory in ["-e .", "-e git+https://host.example/a", "./a.whl", "/a", "a @ file:///a", "--editable=x"] {
            assert!(explain(directory).is_some_and(|text| text.contains("directory")), "{directory}");
        }
        for option in ["-i https://host.example", "--no-binary :all:", "-r x", "-c y"] {
            assert!(explain(option).is_some_and(|text| text.contains("option of pip")), "{option}");
        }
    }
}
