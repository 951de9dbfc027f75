//! Compares the estimates of the bytes of compiled schemas with those that the allocator gave out. A program of its own, since it
//! counts all allocations of the process.

#[path = "../../tests/harness/counting_allocator.rs"]
mod counting_allocator;

use registry::HeapBytes;
use runner::InputSchema;
use serde_json::{Value, json};

use counting_allocator::measure;

/// Fails when an estimate is below the truth, or far above it.
#[track_caller]
fn check(what: &str, schema: &Value) {
    // Some tables are made at the first use.
    drop(InputSchema::compile(schema));
    let (made, bytes) = measure(|| InputSchema::compile(schema).unwrap());
    let estimate = made.heap_bytes();
    println!("{what}: {} bytes as text, {estimate} are estimated, {bytes} are allocated", schema.to_string().len());
    assert!(estimate >= bytes, "{what}: {estimate} bytes are estimated, {bytes} are allocated");
    assert!(estimate <= 20 * bytes + 65_536, "{what}: {estimate} bytes are estimated, only {bytes} are allocated");
}

#[test]
fn the_bytes_of_compiled_schemas_are_estimated() {
    let properties = |count: usize, schema: Value| {
        let named = (0..count).map(|number| (format!("property_{number}"), schema.clone()));
        json!({"type": "object", "properties": named.collect::<serde_json::Map<_, _>>()})
    };
    check("nothing", &json!({}));
    check("one property", &properties(1, json!({"type": "string"})));
    check("many properties", &properties(2_000, json!({"type": "string", "description": "A text.", "maxLength": 10})));
    check("values", &json!({"properties": {"a": {"enum": (0..5_000).collect::<Vec<_>>()}}}));
    check("small objects", &json!({"properties": {"a": {"const": vec![json!({"": 0}); 2_000]}}}));
    check("data", &json!({"x": vec![json!({"": 0}); 2_000]}));
    check("patterns", &properties(100, json!({"pattern": "^[a-z]{1,20}[0-9]{1,9}$"})));
    check("a large pattern", &properties(1, json!({"pattern": r"^[\w.]{1,64}@example\.com$"})));
    check(
        "alternatives",
        &properties(300, json!({"anyOf": [{"type": "string"}, {"items": {"minimum": 1}}, {"required": ["a"]}]})),
    );
    let tree =
        json!({"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}, "right": {"$ref": "#/$defs/tree"}}});
    check("a recursive schema", &json!({"$ref": "#/$defs/tree", "$defs": {"tree": tree}}));
    let mut nested = json!({"type": "integer"});
    for _ in 0..90 {
        nested = json!({"items": nested});
    }
    check("a deep schema", &nested);
}
