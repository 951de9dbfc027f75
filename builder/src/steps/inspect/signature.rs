//! The signature of `run-tool` as text. Functions with the same text can be called in the same way.

use wasmparser::component_types::{ComponentDefinedType, ComponentFuncType, ComponentFuncTypeId, ComponentValType};
use wasmparser::types::TypesRef;

/// The signature that the host calls. Names of fields matter, names of types do not.
pub const EXPECTED: &str = "func(record { tool-input: string, metadata: string, config: string, conversation: string, \
                            user-variables: string }) -> result<string, record { kind: string, message: string, \
                            stack-trace: list<string> }>";
/// Bounds of the text. The expected signature needs at most a third of each. Types may refer to one another so that
/// their text would be unreasonably long.
const DEPTH_MAX: usize = 8;
const LENGTH_MAX: usize = 600;
const CUT: &str = "…";

pub fn of(types: TypesRef<'_>, function: ComponentFuncTypeId) -> String {
    Text { types, text: String::new() }.write_function(&types[function])
}

struct Text<'t> {
    types: TypesRef<'t>,
    text: String,
}

impl Text<'_> {
    fn write_function(mut self, function: &ComponentFuncType) -> String {
        self.add(if function.async_ { "async func(" } else { "func(" });
        self.add_each(function.params.iter(), |text, (_, ty)| text.add_type(ty, 0));
        self.add(")");
        if let Some(result) = &function.result {
            self.add(" -> ");
            self.add_type(result, 0);
        }
        self.text
    }

    fn add(&mut self, more: &str) {
        if self.text.len() + more.len() <= LENGTH_MAX {
            self.text.push_str(more);
        } else if !self.text.ends_with(CUT) {
            self.text.push_str(CUT);
        }
    }

    fn add_each<T>(&mut self, parts: impl Iterator<Item = T>, mut one: impl FnMut(&mut Self, T)) {
        for (number, part) in parts.enumerate() {
            if self.text.len() >= LENGTH_MAX {
                return;
            }
            if number > 0 {
                self.add(", ");
            }
            one(self, part);
        }
    }

    fn add_type(&mut self, ty: &ComponentValType, depth: usize) {
        match ty {
            ComponentValType::Primitive(primitive) => self.add(&primitive.to_string()),
            ComponentValType::Type(_) if depth >= DEPTH_MAX || self.text.len() >= LENGTH_MAX => self.add(CUT),
            ComponentValType::Type(id) => {
                let types = self.types;
                self.add_defined(&types[*id], depth + 1);
            }
        }
    }

    fn add_defined(&mut self, ty: &ComponentDefinedType, depth: usize) {
        match ty {
            ComponentDefinedType::Primitive(primitive) => self.add(&primitive.to_string()),
            ComponentDefinedType::Record(record) => {
                self.add("record { ");
                self.add_each(record.fields.iter(), |text, (name, ty)| {
                    text.add(name);
                    text.add(": ");
                    text.add_type(ty, depth);
                });
                self.add(" }");
            }
            ComponentDefinedType::List { element, .. } => self.add_around("list<", &[*element], depth),
            ComponentDefinedType::Option { ty, .. } => self.add_around("option<", &[*ty], depth),
            ComponentDefinedType::Tuple(tuple) => self.add_around("tuple<", &tuple.types, depth),
            ComponentDefinedType::Result { ok, err, .. } => {
                self.add("result<");
                self.add_each([ok, err].into_iter(), |text, ty| match ty {
                    Some(ty) => text.add_type(ty, depth),
                    None => text.add("_"),
                });
                self.add(">");
            }
            // The expected signature contains no other type, so any text that differs suffices.
            _ => self.add("(another type)"),
        }
    }

    fn add_around(&mut self, open: &str, types: &[ComponentValType], depth: usize) {
        self.add(open);
        self.add_each(types.iter(), |text, ty| text.add_type(ty, depth));
        self.add(">");
    }
}
