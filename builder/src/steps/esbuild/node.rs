//! Modules of Node.js that need no system. They are part of the image, and imports of them become calls of a function of
//! the image.

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
/// The directory of the files that stand for the modules. No file of a project or package has this name.
const DIRECTORY: &str = ".lathe-node";

/// The files that stand for the modules.
pub fn files() -> Vec<SourceFile> {
    let file = |name: &str| {
        let text = format!("module.exports = globalThis[Symbol.for('lathe.node')]('{name}');\n");
        SourceFile { path: path(name), contents: text.into_bytes() }
    };
    MODULES.map(file).into()
}

/// Esbuild's options that replace imports of the modules. A package of the same name, such as `buffer`, is imported
/// instead of the module, except with `node:` before its name.
pub fn aliases(packages: &[SourceFile]) -> Vec<String> {
    let installed: BTreeSet<_> = packages.iter().filter_map(|file| top_package(&file.path)).collect();
    let of = |name: &&str| {
        let bare = name.split('/').next().is_none_or(|package| !installed.contains(package));
        let alias = |prefix: &str| format!("--alias:{prefix}{name}=./{}", path(name));
        [Some(alias("node:")), bare.then(|| alias(""))]
    };
    MODULES.iter().flat_map(of).flatten().collect()
}

fn path(name: &str) -> String {
    format!("{DIRECTORY}/{}.cjs", name.replace('/', "-"))
}

fn top_package(path: &str) -> Option<&str> {
    path.strip_prefix(PACKAGES)?.split('/').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_package_has_precedence_over_the_module() {
        let file = |path: &str| SourceFile { path: path.into(), contents: Vec::new() };
        let aliases =
            aliases(&[file("node_modules/buffer/index.js"), file("node_modules/a/node_modules/util/index.js")]);
        let has = |alias: &str| aliases.iter().any(|found| found == alias);
        assert!(has("--alias:node:buffer=./.lathe-node/buffer.cjs") && has("--alias:util=./.lathe-node/util.cjs"));
        assert!(has("--alias:path/posix=./.lathe-node/path-posix.cjs"));
        assert!(!has("--alias:buffer=./.lathe-node/buffer.cjs"));
    }
}
