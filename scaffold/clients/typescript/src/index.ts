/** A typed client for a Lathe server. `npm run generate` writes `schema.ts`, which has the paths and their types. */

import createFetchClient, { type Client } from "openapi-fetch";
import { errorOf } from "./errors.js";
import { RETRY, type Retry, withRetries } from "./retry.js";
import type { paths } from "./schema.js";

export { LatheError } from "./errors.js";
export type { Retry } from "./retry.js";
export type { components, operations, paths } from "./schema.js";

export interface Options {
  /** Such as `https://tools.example.com`. */
  url: string;
  /** An id token or an API key. */
  token: string;
  appId?: string | undefined;
  workflowId?: string | undefined;
  retry?: Partial<Retry>;
}

/** Returns a client of openapi-fetch that sends again as the rule says, and throws a `LatheError` for another status than 2xx. */
export function createClient({ url, token, appId, workflowId, retry }: Options): Client<paths> {
  const client = createFetchClient<paths>({
    baseUrl: url,
    headers: { Authorization: `Bearer ${token}`, "X-App-Id": appId, "X-Agent-Workflow-Id": workflowId },
    fetch: withRetries((request) => fetch(request), { ...RETRY, ...retry }),
  });
  client.use({
    async onResponse({ response }) {
      if (!response.ok) throw await errorOf(response);
    },
  });
  return client;
}

/** The type of `data` in the envelope of the Library, otherwise of the body. */
export type Result<Body> = Body extends { success: true; data: infer Data } ? Data : Body;

/** Waits for a call, and returns its result. */
export async function result<Body>(call: Promise<{ data?: Body }>): Promise<Result<Body>> {
  const { data: body } = await call;
  const isEnvelope = typeof body === "object" && body !== null && "success" in body && "data" in body;
  return (isEnvelope ? body.data : body) as Result<Body>;
}
