//! Modules of Node.js. Those that need no system are part of the image, and imports of them become calls of a function
//! of the image. Of the others, small ones work, and the rest fails when it is used.

use std::collections::BTreeSet;

use runner::SourceFile;

/// The directory of packages.
const PACKAGES: &str = "node_modules/";

/// The modules, as in `scaffold/javascript_image/polyfills/modules.js`.
pub const MODULES: [&str; 13] = [
    "assert",
    "assert/strict",
    "buffer",
    "crypto",
    "events",
    "path",
    "path/posix",
    "querystring",
    "stream",
    "stream/promises",
    "string_decoder",
    "url",
    "util",
];
/// The modules in `node/others.js`, and those that need a system.
const OTHERS: [&str; 32] = [
    "async_hooks",
    "child_process",
    "cluster",
    "console",
    "dgram",
    "diagnostics_channel",
    "dns",
    "dns/promises",
    "fs",
    "fs/promises",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "perf_hooks",
    "process",
    "readline",
    "readline/promises",
    "stream/web",
    "timers",
    "timers/promises",
    "tls",
    "tty",
    "util/types",
    "v8",
    "vm",
    "worker_threads",
    "zlib",
    "zlib/promises",
];
/// The directory of the files that stand for the modules. No file of a project or package has this name.
const DIRECTORY: &str = ".lathe-node";

/// The files that stand for the modules. The others without `/` are packages, too: a package for browsers may replace an
/// import of a package by nothing, and does so with `fs`.
pub fn build_files(packages: &[SourceFile]) -> Vec<SourceFile> {
    let installed = list_installed(packages);
    let file = |path: String, text: String| SourceFile { path, contents: text.into_bytes() };
    let shared = file(format!("{DIRECTORY}/others.cjs"), include_str!("node/others.js").into());
    let of_image = |name: &str| {
        file(build_path(name), format!("module.exports = globalThis[Symbol.for('lathe.node')]('{name}');\n"))
    };
    let other = |name: &str| file(build_path(name), format!("module.exports = require('./others.cjs')('{name}');\n"));
    let package = |name: &&str| {
        let main = format!("module.exports = require('node:{name}');\n");
        // Without its own, a package would be of the kind of module of the project.
        let kind = r#"{"type":"commonjs"}"#.to_owned();
        [file(format!("{PACKAGES}{name}/index.js"), main), file(format!("{PACKAGES}{name}/package.json"), kind)]
    };
    let bare = OTHERS.iter().filter(|name| !name.contains('/') && !is_installed(&installed, name)).flat_map(package);
    MODULES.map(of_image).into_iter().chain(OTHERS.map(other)).chain(bare).chain([shared]).collect()
}

/// Esbuild's options that replace imports of the modules. A package of the same name, such as `buffer`, is imported
/// instead of the module, except with `node:` before its name.
pub fn list_aliases(packages: &[SourceFile]) -> Vec<String> {
    let installed = list_installed(packages);
    let alias = |prefix: &str, name: &str| format!("--alias:{prefix}{name}=./{}", build_path(name));
    let inner = OTHERS.iter().filter(|name| name.contains('/'));
    let bare = MODULES.iter().chain(inner).filter(|name| !is_installed(&installed, name)).map(|name| alias("", name));
    let prefixed = MODULES.iter().chain(&OTHERS).map(|name| alias("node:", name));
    prefixed.chain(bare).collect()
}

fn list_installed(packages: &[SourceFile]) -> BTreeSet<&str> {
    packages.iter().filter_map(|file| find_top_package(&file.path)).collect()
}

fn is_installed(installed: &BTreeSet<&str>, name: &str) -> bool {
    name.split('/').next().is_some_and(|package| installed.contains(package))
}

fn build_path(name: &str) -> String {
    format!("{DIRECTORY}/{}.cjs", name.replace('/', "-"))
}

fn find_top_package(path: &str) -> Option<&str> {
    path.strip_prefix(PACKAGES)?.split('/').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_package_has_precedence_over_the_module() {
        let file = |path: &str| SourceFile { path: path.into(), contents: Vec::new() };
        let aliases =
            list_aliases(&[file("node_modules/buffer/index.js"), file("node_modules/a/node_modules/util/index.js")]);
        let has = |alias: &str| aliases.iter().any(|found| found == alias);
        assert!(has("--alias:node:buffer=./.lathe-node/buffer.cjs") && has("--alias:util=./.lathe-node/util.cjs"));
        assert!(has("--alias:path/posix=./.lathe-node/path-posix.cjs"));
        assert!(!has("--alias:buffer=./.lathe-node/buffer.cjs"));
    }
}
