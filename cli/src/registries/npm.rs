//! The registry of npm.

use super::host::{Host, find_ini_value};
use super::registry::Registry;

pub const PUBLIC: &str = concat!("https://registry.", "npmjs.org");
const VARIABLES: [&str; 2] = ["npm_config_registry", "NPM_CONFIG_REGISTRY"];

pub fn find_registry(host: &Host) -> Registry {
    let files = [
        host.read_variable("NPM_CONFIG_USERCONFIG").map(Into::into),
        host.find_in_home(".npmrc"),
        host.find_in_system("etc/npmrc"),
        host.find_in_system("usr/local/etc/npmrc"),
        host.find_in_system("usr/etc/npmrc"),
    ];
    let found = host.find_named(&VARIABLES).or_else(|| host.find_configured(files, find_in_npmrc));
    found.unwrap_or_else(|| Registry::public(PUBLIC))
}

fn find_in_npmrc(text: &str) -> Option<String> {
    find_ini_value(text, &[""], "registry")
}
