//! The world of `scaffold/wit`, as Rust.

pub mod tool {
    wasmtime::component::bindgen!({
        path: "../scaffold/wit",
        world: "lathe:tool/tool",
        imports: {
            // These functions may trap, since a replay stops where it differs from its tape.
            "lathe:tool/status.send": async | trappable,
            "lathe:tool/content.add": async | trappable,
            "lathe:tool/log.send": async | trappable,
            "lathe:tool/interaction.request-input": async | trappable,
            "lathe:tool/http.start": async | trappable,
            "lathe:tool/http.wait": async | trappable,
            "lathe:tool/http.finish": async | trappable,
            "lathe:tool/http.cancel": async | trappable,
            "lathe:tool/tools.start": async | trappable,
            "lathe:tool/tools.finish": async | trappable,
            default: async,
        },
        exports: { default: async },
    });
}

pub mod image {
    wasmtime::component::bindgen!({
        path: "../scaffold/wit",
        world: "lathe:tool/image",
        imports: { default: async },
        exports: { default: async },
        with: {
            "lathe:tool/types": super::tool::lathe::tool::types,
            "lathe:tool/status": super::tool::lathe::tool::status,
            "lathe:tool/http": super::tool::lathe::tool::http,
            "lathe:tool/content": super::tool::lathe::tool::content,
            "lathe:tool/log": super::tool::lathe::tool::log,
            "lathe:tool/tools": super::tool::lathe::tool::tools,
            "lathe:tool/interaction": super::tool::lathe::tool::interaction,
        },
    });
}
