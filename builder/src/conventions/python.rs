//! The conventions of Python projects.

use registry::Language;

use super::convention::{ApiFunctions, Convention, EntryPoint};
use crate::component::ShippedImage;

pub const PYTHON: Convention = Convention {
    language: Language::Python,
    file: "pyproject.toml",
    table: &["tool", "lathe"],
    name: &["project", "name"],
    dependencies: &["project", "dependencies"],
    entry_point: EntryPoint {
        defaults: &["tool:run_tool"],
        is_valid: is_python_object,
        rule: "must be `package.module:function`, such as `tool:run_tool`",
    },
    api_functions: ApiFunctions::OfModules {
        default: "tool",
        is_valid: is_dotted,
        rule: "must be a module, such as `orders`, when the tool has `apis`: its functions are the APIs",
    },
    image: Some(IMAGE),
};

pub const IMAGE: ShippedImage = ShippedImage { name: python_image::NAME, unpack: python_image::component };

fn is_python_object(text: &str) -> bool {
    text.split_once(':').is_some_and(|(module, function)| is_dotted(module) && is_dotted(function))
}

fn is_dotted(text: &str) -> bool {
    text.split('.').all(is_identifier)
}

fn is_identifier(part: &str) -> bool {
    let mut characters = part.chars();
    characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|next| next.is_alphanumeric() || next == '_')
}
