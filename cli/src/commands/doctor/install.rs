//! Install commands of this machine's package manager.

use crate::programs;

/// Package managers: their program and their install command.
const PACKAGE_MANAGERS: [(&str, &str); 6] = [
    ("apt-get", "sudo apt-get install"),
    ("dnf", "sudo dnf install"),
    ("apk", "sudo apk add"),
    ("pacman", "sudo pacman -S"),
    ("zypper", "sudo zypper install"),
    ("brew", "brew install"),
];

/// Returns the command that installs a package.
pub fn find_install_command(package: &str) -> String {
    let manager = PACKAGE_MANAGERS.iter().find(|(manager, _)| programs::find(manager).is_some());
    let install = manager.map_or("sudo apt-get install", |(_, install)| install);
    format!("{install} {package}")
}
