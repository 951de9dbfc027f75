//! Parts of Node.js and of the language that the engine lacks, and the image adds.

use serde_json::{Value, json};

use super::{empty, server, typescript};
use crate::harness::{Bump, NpmRegistry, Options, Team, npm_archive, npm_entry, npm_lock};

/// Imports, an expression, and its value.
const CASES: [(&str, &str, &str); 29] = [
    ("", "'Ærøskøbing 12'.match(/\\p{L}+/gu)", r#"["Ærøskøbing"]"#),
    ("", "'añ1-'.replace(/[^\\p{L}\\p{N}]/gu, '')", r#""añ1""#),
    ("", "['Д', 'd'].map((text) => /^\\p{Script=Cyrillic}$/u.test(text))", "[true,false]"),
    ("", "'a1b'.split(new RegExp('\\\\P{Alphabetic}', 'v'))", r#"["a","b"]"#),
    ("", "/[\\p{Lu}--[A-M]]/v.exec('ANZ')[0]", r#""N""#),
    ("", "[/\\p{L}/u instanceof RegExp, /a/u.constructor === RegExp]", "[true,true]"),
    ("", "['e\\u0301'.normalize().length, '\\u00e9'.normalize('NFD').length, 'ﬁ'.normalize('NFKC')]", r#"[1,2,"fi"]"#),
    ("", "(1234567.891).toLocaleString('en-US')", r#""1,234,567.891""#),
    ("", "new Intl.NumberFormat('en-US', { style: 'currency', currency: 'EUR' }).format(-1234.5)", r#""-€1,234.50""#),
    (
        "",
        "new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeStyle: 'short' }).format(0)",
        r#""January 1, 1970 at 12:00 AM""#,
    ),
    (
        "",
        "['z', 'ä', 'a', 'A10', 'A9'].sort(new Intl.Collator('en', { numeric: true }).compare)",
        r#"["a","ä","A9","A10","z"]"#,
    ),
    ("", "new Intl.PluralRules('en', { type: 'ordinal' }).select(22)", r#""two""#),
    ("", "Buffer.from('héllo').toString('base64')", r#""aMOpbGxv""#),
    ("import { Buffer as B } from 'node:buffer';", "B.from('ff', 'hex')[0]", "255"),
    (
        "import { createHash } from 'node:crypto';",
        "createHash('sha256').update('abc').digest('hex').slice(0, 8)",
        r#""ba7816bf""#,
    ),
    (
        "import crypto from 'crypto';",
        "crypto.createHmac('sha1', 'key').update('a').digest('base64')",
        r#""DbIfBQUvMj5xTvm/H3sAD/6X6KA=""#,
    ),
    ("import path from 'node:path';", "path.join('a', '..', 'b', 'c.txt')", r#""b/c.txt""#),
    ("import { format } from 'util';", "format('%s is %d', 'x', 1)", r#""x is 1""#),
    (
        "import EventEmitter from 'events';",
        "(() => { const seen = []; const e = new EventEmitter(); e.on('x', (v) => seen.push(v)); e.emit('x', 1); return seen; })()",
        "[1]",
    ),
    (
        "import { Readable } from 'node:stream';",
        "await (async () => { let all = ''; for await (const part of Readable.from(['a', 'b'])) all += part; return all; })()",
        r#""ab""#,
    ),
    ("import { parse } from 'querystring';", "parse('a=1&b=2')", r#"{"a":"1","b":"2"}"#),
    (
        "import assert from 'node:assert';",
        "(() => { try { assert.strictEqual(1, 2); } catch (error) { return error.code; } })()",
        r#""ERR_ASSERTION""#,
    ),
    ("import { EOL } from 'node:os';", "EOL", r#""\n""#),
    ("import { setTimeout as later } from 'timers/promises';", "await later(1, 'a')", r#""a""#),
    ("import process from 'node:process';", "[process.env.HOME ?? null, process.cwd()]", r#"[null,"/"]"#),
    (
        "import fs, { readFileSync } from 'fs';",
        "[() => readFileSync('a'), () => fs.promises.readFile('a')].map((use) => { try { return use(); } catch (error) { return error.message; } })",
        r#"["fs.readFileSync is not available in a tool","fs.promises.readFile is not available in a tool"]"#,
    ),
    (
        "import { Agent } from 'node:http';",
        "(() => { class Own extends Agent {} try { return new Own(); } catch (error) { return error.message; } })()",
        r#""http.Agent is not available in a tool""#,
    ),
    ("import { isTypedArray } from 'util/types';", "isTypedArray(new Uint8Array())", "true"),
    ("import * as net from 'node:net';", "typeof net.connect", r#""function""#),
];

#[test]
fn modules_of_node_and_unicode_are_available() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let before: String = CASES.iter().map(|(import, _, _)| format!("{import}\n")).collect();
    let body: String = CASES.iter().map(|(_, expression, _)| format!("  {expression},\n")).collect();
    let tool = typescript(&team, "node", &json!({}), &before, &format!("return [\n{body}];")).published();
    let found = tool.invoke(json!({})).json();
    for (index, (_, expression, expected)) in CASES.iter().enumerate() {
        let expected: Value = serde_json::from_str(expected).expect("JSON");
        assert_eq!(found[index], expected, "{expression}");
    }
}

#[test]
fn a_package_has_precedence_over_a_module_of_the_same_name() {
    let own = npm_archive(&[
        ("package.json", r#"{"name": "util", "version": "1.0.0", "main": "index.js"}"#),
        ("index.js", "exports.own = true;"),
    ]);
    let registry = NpmRegistry::serve(&[("util", "1.0.0", &own)]);
    let environment = vec![("LATHE_NPM_REGISTRY".to_owned(), registry.url)];
    let Some(server) = server(Options { environment, ..Options::default() }) else { return };
    let team = Team::on(&server);
    let dependencies = json!({"util": "1.0.0"});
    let before = "import util from 'util';\nimport { format } from 'node:util';";
    let body = "return [util.own, typeof util.format, typeof format];";
    let tool = typescript(&team, "precedence", &json!({"dependencies": dependencies}), before, body);
    let tool = tool
        .with_file("package-lock.json", &npm_lock(&dependencies, &[("node_modules/util", npm_entry("1.0.0", &own))]));
    assert_eq!(tool.published().invoke(json!({})).json(), json!([true, "undefined", "function"]));
}

/// A package that stores itself in `this` unless it finds CommonJS. Its package.json replaces `fs` by nothing.
const UMD: &str = "(function (root, make) {
  if (typeof require === 'function' && typeof exports === 'object' && typeof module === 'object') module.exports = make();
  else root.umd = make();
})(this, function () {
  var dynamic = function (name) { return require(name); };
  try { dynamic('fs'); } catch (error) { return { found: error.code, fs: Object.keys(require('fs')).length, has: !!require('fs').readFileSync }; }
});
";

#[test]
fn a_package_finds_commonjs() {
    let umd = npm_archive(&[
        ("package.json", r#"{"name": "umd", "version": "1.0.0", "main": "index.js", "browser": {"fs": false}}"#),
        ("index.js", UMD),
    ]);
    let registry = NpmRegistry::serve(&[("umd", "1.0.0", &umd)]);
    let environment = vec![("LATHE_NPM_REGISTRY".to_owned(), registry.url)];
    let Some(server) = server(Options { environment, ..Options::default() }) else { return };
    let team = Team::on(&server);
    let dependencies = json!({"umd": "1.0.0"});
    let lock = npm_lock(&dependencies, &[("node_modules/umd", npm_entry("1.0.0", &umd))]);
    let expected = json!({"found": "MODULE_NOT_FOUND", "fs": 0, "has": false});
    let body = "return umd;";
    let tool = typescript(&team, "umd", &json!({"dependencies": dependencies}), "import umd from 'umd';", body);
    assert_eq!(tool.with_file("package-lock.json", &lock).published().invoke(json!({})).json(), expected);
    // With a second kind of module, project and packages are one script.
    let before = "import './more.mts';\nimport umd from 'umd';";
    let tool = typescript(&team, "umd_joint", &json!({"dependencies": dependencies}), before, body);
    let tool = tool.with_file("package-lock.json", &lock).with_file("more.mts", "export const more = 1;\n");
    assert_eq!(tool.published().invoke(json!({})).json(), expected);
}

#[test]
fn a_syntax_error_names_package_file_and_line() {
    let odd = npm_archive(&[
        ("package.json", r#"{"name": "odd", "version": "1.0.0", "main": "lib/index.js"}"#),
        ("lib/index.js", "// a comment\nexports.PATTERN = /\\p{Nonsense}/u;\n"),
    ]);
    let registry = NpmRegistry::serve(&[("odd", "1.0.0", &odd)]);
    let environment = vec![("LATHE_NPM_REGISTRY".to_owned(), registry.url)];
    let Some(server) = server(Options { environment, ..Options::default() }) else { return };
    let team = Team::on(&server);
    let dependencies = json!({"odd": "1.0.0"});
    let lock = npm_lock(&dependencies, &[("node_modules/odd", npm_entry("1.0.0", &odd))]);
    // A second kind of module, so that project and packages are one script.
    let tool = empty(&team, "odd", &json!({"dependencies": dependencies})).with_file("package-lock.json", &lock);
    let tool = tool.with_file("more.mts", "export const more = 1;\n");
    let tool = tool.with_file(
        "index.js",
        "import './more.mts';\nimport { PATTERN } from 'odd';\nexport const runTool = () => PATTERN;\n",
    );
    let answer = tool.pushed().publish(Bump::Minor);
    answer.expect(400);
    let detail = answer.detail();
    assert!(detail.contains("odd/lib/index.js:2: SyntaxError: ") && detail.contains("Nonsense"), "{detail}");
}
