//! The environment and the configuration files of a machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::registry::Registry;

/// Bytes of a configuration file.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Where package managers look for their configuration.
pub struct Host {
    variables: BTreeMap<String, String>,
    /// The directory of `/etc` and `/usr`.
    root: PathBuf,
    home: Option<PathBuf>,
}

impl Host {
    /// This machine, as the current user sees it.
    pub fn this() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let variables: BTreeMap<_, _> = std::env::vars_os().filter_map(text).collect();
        let home = variables.get("HOME").map(PathBuf::from);
        Self { variables, root: "/".into(), home }
    }

    #[cfg(test)]
    pub fn for_tests(root: &Path, variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self { variables, root: root.to_owned(), home: Some(root.join("user")) }
    }

    /// A variable that is not empty.
    pub fn read_variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The registry that the first of these variables names.
    pub fn find_named(&self, variables: &[&str]) -> Option<Registry> {
        variables.iter().find_map(|name| Some(Registry::new(self.read_variable(name)?, *name)))
    }

    /// The path of a file in the user's home.
    pub fn find_in_home(&self, path: &str) -> Option<PathBuf> {
        Some(self.home.as_ref()?.join(path))
    }

    /// The path of a file in the user's directory for configuration.
    pub fn find_in_config(&self, path: &str) -> Option<PathBuf> {
        match self.read_variable("XDG_CONFIG_HOME") {
            Some(directory) => Some(Path::new(directory).join(path)),
            None => self.find_in_home(&format!(".config/{path}")),
        }
    }

    /// The path of a file of the system, relative to its root.
    pub fn find_in_system(&self, path: &str) -> Option<PathBuf> {
        Some(self.root.join(path))
    }

    /// The registry that the first of these files names. `read` finds the URL in a file's text.
    pub fn find_configured<const N: usize>(
        &self,
        files: [Option<PathBuf>; N],
        read: fn(&str) -> Option<String>,
    ) -> Option<Registry> {
        files.into_iter().flatten().find_map(|path| {
            let is_small = path.metadata().is_ok_and(|found| found.is_file() && found.len() <= FILE_BYTES_MAX);
            let text = is_small.then(|| std::fs::read_to_string(&path).ok()).flatten()?;
            Some(Registry::new(read(&text)?, path.display().to_string()))
        })
    }
}

/// The value of a key in lines such as `key = value` or `key: value`, in the first of these sections that has it. Lines
/// before the first section are in the section without a name.
pub fn find_ini_value(text: &str, sections: &[&str], key: &str) -> Option<String> {
    sections.iter().find_map(|section| find_value_in(text, section, key))
}

fn find_value_in(text: &str, wanted: &str, key: &str) -> Option<String> {
    let mut section = "";
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
        } else if let Some((found, value)) = line.split_once(['=', ':'])
            && section == wanted
            && found.trim() == key
        {
            let value = value.trim().trim_matches(['"', '\'']);
            return Some(value.to_owned()).filter(|value| !value.is_empty());
        }
    }
    None
}
