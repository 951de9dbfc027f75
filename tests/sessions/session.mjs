// A session of an official JavaScript SDK: node session.mjs SDK URL NAME, with the header for credentials in AUTHORIZATION.
//
// SDK is `sdk`, the package of the sessions up to 2025-11-25, or `client`, that of 2026-07-28. The session writes "publish" to its
// output, and reads what the tool `edition` then returns.

import assert from "node:assert/strict";
import { createInterface } from "node:readline/promises";

const [sdk, url, name] = process.argv.slice(2);
const headers = { Authorization: process.env.AUTHORIZATION };
const input = createInterface({ input: process.stdin });

const questions = [];
const answer = (request) => {
    questions.push(request.params.message);
    return { action: "accept", content: { size: "M" } };
};

// Resolves at the first notification that the tools have changed, with the tools after it.
let onChanged;
const changed = new Promise((resolve, reject) => {
    onChanged = (error, tools) => (error ? reject(error) : resolve(tools));
});

const information = { name, version: "1.0" };
const options = { capabilities: { elicitation: {} }, listChanged: { tools: { onChanged } } };

/** Connects with the package of the earlier era. */
async function connectSdk() {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
    const client = new Client(information, options);
    client.setRequestHandler(ElicitRequestSchema, answer);
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    await client.connect(transport);
    const call = (tool, args, more) => client.callTool({ name: tool, arguments: args }, undefined, more);
    return { client, transport, call, version: transport.protocolVersion };
}

/** Connects with the package of the present era. */
async function connectClient() {
    const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const client = new Client(information, { ...options, versionNegotiation: { mode: "auto" } });
    client.setRequestHandler("elicitation/create", answer);
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    await client.connect(transport);
    const call = (tool, args, more) => client.callTool({ name: tool, arguments: args }, more);
    return { client, transport, call, version: client.getNegotiatedProtocolVersion() };
}

async function lists({ client }) {
    const { tools } = await client.listTools();
    const add = tools.find((tool) => tool.name === "add");
    assert.deepEqual(add.outputSchema.required, ["sum"]);
    assert.equal(add.description, "The tool add.");
}

async function calls({ call }) {
    assert.deepEqual((await call("add", { left: 2, right: 3 })).structuredContent, { sum: 5 });
    const refused = await call("add", { left: "two", right: 3 });
    assert.ok(refused.isError && refused.content[0].text.includes("/left"), JSON.stringify(refused));
    const steps = [];
    const onprogress = ({ progress, total, message }) => steps.push([progress, total, message]);
    assert.equal((await call("count", {}, { onprogress })).content[0].text, "counted");
    assert.deepEqual(steps, [[1, 3, "step 1"], [2, 3, "step 2"], [3, 3, "step 3"]]);
    const failed = await call("find", { order: "8812" });
    assert.deepEqual([failed.isError, failed.content[0].text], [true, "LookupError: no order 8812"]);
    await assert.rejects(call("nothing", {}), (error) => error.code === -32602);
}

async function asks({ call }) {
    assert.equal((await call("choose", {})).content[0].text, "accept M");
    assert.deepEqual(questions, ["Which size?"]);
}

const versionOf = (tools) => tools.find((tool) => tool.name === "edition")._meta["dev.lathe/version"];

async function changes({ client, call }) {
    const before = versionOf((await client.listTools()).tools);
    console.log("publish");
    const output = await input.question("");
    assert.notEqual(versionOf(await changed), before);
    assert.equal((await call("edition", {})).content[0].text, output);
}

/** Ends a session of the earlier era, which is unknown afterwards. The present era has none. */
async function ends({ client, transport, version }) {
    const session = transport.sessionId;
    assert.equal(typeof session, sdk === "sdk" ? "string" : "undefined");
    if (session) await transport.terminateSession();
    await client.close();
    if (!session) return;
    const more = { "mcp-session-id": session, "mcp-protocol-version": version, "content-type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const accept = "application/json, text/event-stream";
    const after = await fetch(url, { method: "POST", headers: { ...headers, ...more, accept }, body });
    assert.equal(after.status, 404);
}

const session = await (sdk === "sdk" ? connectSdk() : connectClient());
assert.equal(session.version, sdk === "sdk" ? "2025-11-25" : "2026-07-28");
await lists(session);
await calls(session);
await asks(session);
await changes(session);
await ends(session);
input.close();
