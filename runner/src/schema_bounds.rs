//! What a schema may cost, told before it is compiled.
//!
//! Following references can make a short document deep or exponentially wide,
//! so both are counted with references followed. A schema that refers to itself
//! costs what its input makes of it; that is noted, and paid for elsewhere.

use serde_json::Value;

/// Compiling and matching call themselves once per level; their stack is 2 MiB.
const DEPTH_MAX: usize = 100;
/// Far beyond what anyone writes: a schema of 256 KiB has about 5,000.
const SUBSCHEMAS_MAX: usize = 10_000;

/// Keywords whose values are schemas by name.
const NAMED: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
/// Keywords whose values are data.
const DATA: [&str; 4] = ["enum", "const", "default", "examples"];
/// Keywords that make a reference depend on where it is reached from.
const REFUSED: [&str; 3] = ["$dynamicRef", "$recursiveRef", "$dynamicAnchor"];

/// Whether the schema refers to itself.
///
/// # Errors
/// Why the schema is refused.
pub fn is_recursive(schema: &Value) -> Result<bool, String> {
    let mut walk = Walk { root: schema, left: SUBSCHEMAS_MAX, references: Vec::new(), recursive: false };
    walk.visit(schema, 0)?;
    Ok(walk.recursive)
}

struct Walk<'a> {
    root: &'a Value,
    left: usize,
    references: Vec<&'a str>,
    recursive: bool,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, schema: &'a Value, depth: usize) -> Result<(), String> {
        let Value::Object(keywords) = schema else { return Ok(()) };
        if depth > DEPTH_MAX {
            return Err(format!("the schema is nested more than {DEPTH_MAX} deep"));
        }
        let more = format!("the schema has more than {SUBSCHEMAS_MAX} parts with its references followed");
        self.left = self.left.checked_sub(1).ok_or(more)?;
        for (keyword, value) in keywords {
            self.keyword(keyword, value, depth)?;
        }
        Ok(())
    }

    fn keyword(&mut self, keyword: &str, value: &'a Value, depth: usize) -> Result<(), String> {
        if REFUSED.contains(&keyword) || (keyword == "$id" && depth > 0) {
            return Err(format!("{keyword} is not supported"));
        }
        if DATA.contains(&keyword) {
            return Ok(());
        }
        match value {
            Value::String(reference) if keyword == "$ref" => self.follow(reference, depth),
            Value::Object(named) if NAMED.contains(&keyword) => {
                named.values().try_for_each(|schema| self.visit(schema, depth + 1))
            }
            Value::Array(schemas) => schemas.iter().try_for_each(|schema| self.visit(schema, depth + 1)),
            schema => self.visit(schema, depth + 1),
        }
    }

    fn follow(&mut self, reference: &'a str, depth: usize) -> Result<(), String> {
        if self.references.contains(&reference) {
            self.recursive = true;
            return Ok(());
        }
        let unknown = || format!("$ref {reference:?} is no part of the document; write it as \"#/$defs/NAME\"");
        let pointer = reference.strip_prefix('#').filter(|pointer| !pointer.contains('%')).ok_or_else(unknown)?;
        let root = self.root;
        let target = root.pointer(pointer).ok_or_else(unknown)?;
        self.references.push(reference);
        self.visit(target, depth + 1)?;
        self.references.pop();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// `width` definitions that each refer to the next `width` times.
    fn chain(length: usize, times: usize) -> Value {
        let definition = |index: usize| json!({"allOf": vec![json!({"$ref": format!("#/$defs/{index}")}); times]});
        let mut names: serde_json::Map<_, _> = (0..length).map(|i| (i.to_string(), definition(i + 1))).collect();
        names.insert(length.to_string(), json!(true));
        json!({"$ref": "#/$defs/0", "$defs": names})
    }

    #[test]
    fn plain_and_recursive_schemas_are_told_apart() {
        assert_eq!(is_recursive(&json!({"properties": {"$ref": {"type": "string"}}})), Ok(false));
        assert_eq!(is_recursive(&chain(3, 2)), Ok(false));
        assert_eq!(is_recursive(&json!({"properties": {"next": {"$ref": "#"}}})), Ok(true));
        assert_eq!(is_recursive(&json!({"const": {"$ref": "elsewhere"}})), Ok(false));
    }

    #[test]
    fn what_would_cost_too_much_is_refused() {
        assert!(is_recursive(&chain(30, 2)).unwrap_err().contains("more than 10000 parts"));
        assert!(is_recursive(&chain(300, 1)).unwrap_err().contains("deep"));
        let deep = (0..120).fold(json!({}), |inner, _| json!({"not": inner}));
        assert!(is_recursive(&deep).unwrap_err().contains("deep"));
    }

    #[test]
    fn references_out_of_the_document_are_refused() {
        for reference in ["https://example.com/x", "other.json", "#/$defs/missing", "#anchor"] {
            assert!(is_recursive(&json!({"$ref": reference})).is_err(), "{reference}");
        }
        assert!(is_recursive(&json!({"$dynamicRef": "#x"})).is_err());
    }
}
