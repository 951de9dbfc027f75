//! Determines the WIT world that a tool is built for, from its bytes.

use registry::ToolWorld;
use wasmparser::{Parser, Payload};

use super::{ENTRY_POINT, refuse};
use crate::component::BuiltArtifact;
use crate::error::Error;

/// The WIT package of the host interface, as in `scaffold/wit`.
const PACKAGE: &str = "lathe:tool/";
/// The package's world for tools, and its release.
const WORLD: &str = "tool";
const RELEASE: &str = "0.1.0";
/// The interfaces of this world.
const INTERFACES: [&str; 7] = ["content", "http", "interaction", "log", "status", "tools", "types"];

/// The world of an artifact. An interpreter counts as importing every interface, whatever its code uses. A component
/// imports the interfaces that it uses.
///
/// # Errors
/// When the bytes are not a component, which the inspection rules out.
pub fn read_world(artifact: &BuiltArtifact) -> Result<ToolWorld, Error> {
    match artifact {
        BuiltArtifact::Bundle { .. } => Ok(build_whole()),
        BuiltArtifact::Component { bytes, .. } => read_component(bytes),
    }
}

fn build_whole() -> ToolWorld {
    ToolWorld {
        name: build_name(WORLD, RELEASE),
        imports: INTERFACES.iter().map(|interface| build_name(interface, RELEASE)).collect(),
        exports: vec![ENTRY_POINT.to_owned()],
    }
}

fn build_name(item: &str, release: &str) -> String {
    format!("{PACKAGE}{item}@{release}")
}

fn read_component(component: &[u8]) -> Result<ToolWorld, Error> {
    let mut found = WorldItems::default();
    for payload in Parser::new(0).parse_all(component) {
        payload.and_then(|payload| found.add(&payload)).map_err(|error| refuse("valid", error.to_string()))?;
    }
    Ok(found.into_world())
}

/// The imports and exports of the outermost component.
#[derive(Default)]
struct WorldItems {
    depth: u32,
    imports: Vec<String>,
    exports: Vec<String>,
}

impl WorldItems {
    fn add(&mut self, payload: &Payload<'_>) -> wasmparser::Result<()> {
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => self.depth += 1,
            Payload::End(_) => self.depth = self.depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if self.depth == 0 => {
                for import in section.clone() {
                    self.imports.push(import?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if self.depth == 0 => {
                for export in section.clone() {
                    self.exports.push(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The world, with the release that the tool's imports name. A tool that imports none of the interfaces counts as
    /// built for this release.
    fn into_world(mut self) -> ToolWorld {
        // A type used from an interface is imported under its own name.
        self.imports.retain(|name| name.contains('/'));
        self.imports.sort_unstable();
        self.exports.sort_unstable();
        let of_ours = self.imports.iter().find(|name| name.starts_with(PACKAGE));
        let release = of_ours.and_then(|name| name.split_once('@')).map_or(RELEASE, |(_, release)| release);
        ToolWorld { name: build_name(WORLD, release), imports: self.imports, exports: self.exports }
    }
}

#[cfg(test)]
mod tests {
    use wit_parser::{Resolve, WorldItem};

    use super::*;

    #[test]
    fn the_whole_world_is_that_of_the_scaffold() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scaffold/wit/tool.wit");
        let mut resolve = Resolve::default();
        let package = resolve.push_path(path).unwrap().0;
        let world = &resolve.worlds[resolve.select_world(&[package], Some(WORLD)).unwrap()];
        let interfaces = world.imports.iter().filter(|(_, item)| matches!(item, WorldItem::Interface { .. }));
        let mut imports: Vec<_> = interfaces.map(|(key, _)| resolve.name_world_key(key)).collect();
        imports.sort_unstable();
        let exports: Vec<_> = world.exports.keys().map(|key| resolve.name_world_key(key)).collect();
        let name = resolve.id_of_name(world.package.unwrap(), &world.name);
        assert_eq!(build_whole(), ToolWorld { name, imports, exports });
    }

    #[test]
    fn a_component_needs_its_own_imports() {
        let component = r#"(component
            (import "lathe:tool/http@0.2.1" (instance))
            (import "wasi:io/error@0.2.6" (instance (export "error" (type (sub resource)))))
            (type $bool bool) (import "a-type" (type (eq $bool)))
            (component (import "lathe:tool/status@0.2.1" (instance)))
            (core module (func (export "f")))
            (core instance $i (instantiate 0))
            (func (export "run-tool") (canon lift (core func $i "f"))))"#;
        let world = read_world(&BuiltArtifact::own(wat::parse_str(component).unwrap())).unwrap();
        assert_eq!(world.name, "lathe:tool/tool@0.2.1");
        assert_eq!(world.imports, ["lathe:tool/http@0.2.1", "wasi:io/error@0.2.6"]);
        assert_eq!(world.exports, ["run-tool"]);
    }

    #[test]
    fn a_tool_that_imports_nothing_is_of_this_release() {
        let world = read_component(&wat::parse_str("(component)").unwrap()).unwrap();
        assert_eq!(world, ToolWorld { imports: Vec::new(), exports: Vec::new(), ..build_whole() });
        assert!(read_component(b"nothing of the kind").unwrap_err().to_string().starts_with("inspect failed (valid)"));
    }
}
