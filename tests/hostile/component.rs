//! Makes a component of a guest's core functions: `wrapper.wat` with the guest inserted.
//!
//! Lines of a guest that begin with `;;!` are directives: `memory`, `realloc` and `libc` of the module that
//! owns its memory, `import` of the module that the guest is in, `component` around both, `50 times` for the latter.

const WRAPPER: &str = include_str!("wrapper.wat");

/// Two pages: one for the guest's results, one for its arguments.
const MEMORY: &str = "2";
const POST_RETURN: &str = "(func (export \"post-return\") (param i32))";

pub fn component(guest: &str) -> Vec<u8> {
    let memory = directives(guest, "memory").next().unwrap_or(MEMORY);
    let own_post_return = guest.contains("(export \"post-return\")");
    let text = WRAPPER
        .replace("@memory@", memory)
        .replace("@realloc@", &all(guest, "realloc"))
        .replace("@libc@", &all(guest, "libc"))
        .replace("@import@", &all(guest, "import"))
        .replace("@component@", &(all(guest, "component") + &repeated(guest)))
        .replace("@post_return@", if own_post_return { "" } else { POST_RETURN })
        .replace("@main@", guest);
    wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{guest}"))
}

fn directives<'a>(guest: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = guest.lines().filter_map(|line| line.strip_prefix(";;! ")?.split_once(": "));
    lines.filter(move |(found, _)| *found == key).map(|(_, text)| text)
}

fn all(guest: &str, key: &str) -> String {
    directives(guest, key).collect::<Vec<_>>().join("\n")
}

fn repeated(guest: &str) -> String {
    let lines = guest.lines().filter_map(|line| line.strip_prefix(";;! ")?.split_once(" times: "));
    lines.map(|(times, text)| text.repeat(times.parse().expect("a number"))).collect()
}
