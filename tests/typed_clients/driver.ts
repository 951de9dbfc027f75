// Sends the requests of the table through the TypeScript client: node driver.js < requests.json

import { createClient, LatheError, result } from "./index.js";

declare const process: { stdin: AsyncIterable<string> & { setEncoding(name: string): void } };

type Sent = { url: string; method: "GET" | "PUT" | "DELETE" | "POST" | "PATCH"; retries: number; random: number | null; now: number };

const one = { params: { path: { memory_id: "m" } } };
const body = { content: "c" };

function call(client: ReturnType<typeof createClient>, method: Sent["method"]): Promise<unknown> {
  switch (method) {
    case "GET": return result(client.GET("/api/v1/memory/{memory_id}", one));
    case "PUT": return result(client.PUT("/api/v1/memory/{memory_id}", { ...one, body }));
    case "DELETE": return result(client.DELETE("/api/v1/memory/{memory_id}", one));
    case "POST": return result(client.POST("/api/v1/memory", { body }));
    case "PATCH": return result(client.PATCH("/api/v1/memory/{memory_id}", { ...one, body }));
  }
}

async function send({ url, method, retries, random, now }: Sent) {
  const sleeps: number[] = [];
  const sleep = async (seconds: number) => void sleeps.push(seconds);
  const source = random === null ? {} : { random: () => random };
  const retry = { retries, now: () => now * 1000, sleep, ...source };
  const client = createClient({ url, token: "secret", appId: "app", workflowId: "workflow", retry });
  try {
    return { sleeps, result: await call(client, method) };
  } catch (error) {
    if (!(error instanceof LatheError)) return { sleeps, connection: true, text: String(error) };
    const { code, status, message, details } = error;
    return { sleeps, error: { code, status, message, details: details ?? null } };
  }
}

let input = "";
process.stdin.setEncoding("utf8");
for await (const piece of process.stdin) input += piece;
const reports = [];
for (const request of JSON.parse(input) as Sent[]) reports.push(await send(request));
console.log(JSON.stringify(reports));
