// Works on the Library through the typed client: node sample.js URL TOKEN. tsc checks it.

import { createClient, LatheError, result } from "./index.js";

declare const process: { argv: string[] };

const [url = "", token = ""] = process.argv.slice(2);
const client = createClient({ url, token, appId: "sample", workflowId: "flow" });

function check(found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${JSON.stringify(found)}, and not ${JSON.stringify(expected)}`);
}

async function refusal(call: Promise<unknown>): Promise<LatheError> {
  const error = await call.then(() => undefined, (error: unknown) => error);
  if (!(error instanceof LatheError)) throw new Error(`no refusal: ${String(error)}`);
  return error;
}

async function memories() {
  const content = "The customer prefers e-mail.";
  const memory = await result(client.POST("/api/v1/memory", { body: { content, kind: "fact", tags: ["contact"] } }));
  const one = { params: { path: { memory_id: memory.memory_id } } };
  check((await result(client.GET("/api/v1/memory/{memory_id}", one))).content, content);
  const query = { kind: "fact", tags: ["contact"], limit: 10 };
  const listed = await result(client.GET("/api/v1/memory", { params: { query } }));
  check(listed.items[0]?.memory_id, memory.memory_id);
  const found = await result(client.POST("/api/v1/memory/search", { body: { query: "e-mail" } }));
  check(found.items[0]?.memory_id, memory.memory_id);
  const changed = await result(client.PATCH("/api/v1/memory/{memory_id}", { ...one, body: { content: "Calls." } }));
  check(changed.content, "Calls.");
  check((await result(client.PUT("/api/v1/memory/{memory_id}", { ...one, body: { importance: 0.5 } }))).importance, 0.5);
  check((await result(client.DELETE("/api/v1/memory/{memory_id}", one))).deleted, true);
  const error = await refusal(client.GET("/api/v1/memory/{memory_id}", one));
  check(`${error.status} ${error.code}: ${error.message}`, "404 not_found: memory not found");
}

async function skills() {
  const skill = await result(client.POST("/api/v1/skills", { body: { name: "greet", content: "# Greet" } }));
  const one = { params: { path: { skill_id: skill.skill_id } } };
  check((await result(client.GET("/api/v1/skills/{skill_id}", one))).name, "greet");
  const listed = await result(client.GET("/api/v1/skills"));
  check(listed.items.some((item) => item.skill_id === skill.skill_id), true);
  const changed = await result(client.PATCH("/api/v1/skills/{skill_id}", { ...one, body: { description: "Greets." } }));
  check(changed.description, "Greets.");
  check((await result(client.DELETE("/api/v1/skills/{skill_id}", one))).deleted, true);
}

async function preferences() {
  const one = { params: { path: { key: "colour/of the page" } } };
  const body = { value: { dark: true }, source: "explicit" } as const;
  check((await result(client.PUT("/api/v1/preferences/{key}", { ...one, body }))).key, one.params.path.key);
  check(JSON.stringify((await result(client.GET("/api/v1/preferences/{key}", one))).value), '{"dark":true}');
  check((await result(client.GET("/api/v1/preferences"))).items.length, 1);
  check((await result(client.DELETE("/api/v1/preferences/{key}", one))).deleted, true);
}

async function refused() {
  const empty = await refusal(client.POST("/api/v1/memory", { body: { content: "" } }));
  check(`${empty.status} ${empty.code} ${empty.details !== undefined}`, "400 input_schema true");
  const path = { organization: "acme" };
  const negative = await refusal(client.GET("/v1/{organization}/tool", { params: { path, query: { limit: -1 } } }));
  check(`${negative.status} ${negative.code}`, "422 request_invalid");
}

/** Is not called. Without types, tsc would find that these lines have no error. */
export async function mistakes() {
  // @ts-expect-error
  await client.POST("/api/v1/memory", { body: { contents: "c" } });
  // @ts-expect-error
  await client.GET("/api/v1/memories");
  // @ts-expect-error
  (await result(client.GET("/api/v1/memory"))).rows;
}

for (const part of [memories, skills, preferences, refused]) await part();
