//! The conventions of JavaScript and TypeScript projects.

use registry::Language;

use super::convention::{ApiFunctions, Convention, EntryPoint};
use crate::component::ShippedImage;

pub const JAVASCRIPT: Convention = Convention {
    language: Language::JavaScript,
    file: "package.json",
    table: &["lathe"],
    name: &["name"],
    dependencies: &["dependencies"],
    entry_point: EntryPoint {
        defaults: &["index.ts", "index.js", "src/index.ts", "src/index.js"],
        is_valid: is_script,
        rule: "must be a file of the project that exports runTool, such as `src/index.ts`",
    },
    api_functions: ApiFunctions::OfEntryFile,
    image: Some(IMAGE),
};

pub const IMAGE: ShippedImage = ShippedImage { name: javascript_image::NAME, unpack: javascript_image::component };

fn is_script(text: &str) -> bool {
    let inside = text.split('/').all(|part| !matches!(part, "" | "." | ".."));
    inside && [".ts", ".mts", ".tsx", ".js", ".mjs", ".jsx"].iter().any(|ending| text.ends_with(ending))
}
