//! How this machine's package manager installs what is missing.

use crate::programs;

/// Package managers by their program, with the command that installs.
const PACKAGE_MANAGERS: [(&str, &str); 6] = [
    ("apt-get", "sudo apt-get install"),
    ("dnf", "sudo dnf install"),
    ("apk", "sudo apk add"),
    ("pacman", "sudo pacman -S"),
    ("zypper", "sudo zypper install"),
    ("brew", "brew install"),
];

/// The command that installs a package of that name here.
pub fn command(package: &str) -> String {
    let manager = PACKAGE_MANAGERS.iter().find(|(manager, _)| programs::find(manager).is_some());
    let install = manager.map_or("sudo apt-get install", |(_, install)| install);
    format!("{install} {package}")
}
