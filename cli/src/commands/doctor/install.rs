//! Programs on this machine, and how its package manager installs them.

use std::path::PathBuf;

/// Package managers by their program, with the command that installs.
const PACKAGE_MANAGERS: [(&str, &str); 6] = [
    ("apt-get", "sudo apt-get install"),
    ("dnf", "sudo dnf install"),
    ("apk", "sudo apk add"),
    ("pacman", "sudo pacman -S"),
    ("zypper", "sudo zypper install"),
    ("brew", "brew install"),
];

pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|candidate| candidate.is_file())
}

/// The command that installs a package of that name here.
pub fn command(package: &str) -> String {
    let manager = PACKAGE_MANAGERS.iter().find(|(manager, _)| program(manager).is_some());
    let install = manager.map_or("sudo apt-get install", |(_, install)| install);
    format!("{install} {package}")
}
