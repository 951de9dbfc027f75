/** Bounds of retries, and the sources of randomness and time. */
export interface Retry {
  retries: number;
  baseSeconds: number;
  capSeconds: number;
  /** Returns a number from 0 to 1. */
  random: () => number;
  /** Returns the milliseconds since 1970. */
  now: () => number;
  sleep: (seconds: number) => Promise<void>;
}

export const RETRY: Retry = {
  retries: 3,
  baseSeconds: 0.5,
  capSeconds: 8,
  random: Math.random,
  now: Date.now,
  sleep: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
};

/** Verbs whose repetition has the effect of one request. */
const IDEMPOTENT = new Set(["GET", "PUT", "DELETE"]);
/** Statuses after which an idempotent request is repeated. */
const TRANSIENT = new Set([502, 503, 504]);
/** The longest `Retry-After` that is waited for. A caller waits no longer without a word. */
const RETRY_AFTER_SECONDS_MAX = 60;
/** Codes of Node.js for a connection that failed. A slow response, or one that is not HTTP, has another code. */
const CONNECTION_ERRORS = new Set([
  "EAI_AGAIN", "ECONNABORTED", "ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EPIPE",
  "ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_SOCKET",
]);

export type Send = (request: Request) => Promise<Response>;

/** Returns a `fetch` that sends again as the rule says. */
export function withRetries(send: Send, retry: Retry): Send {
  return async (request) => {
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await sent(send, request).catch((error: unknown) => ({ error }));
      const pause = pauseAfter(retry, request.method, outcome, attempt);
      if (pause === undefined) {
        if (outcome instanceof Response) return outcome;
        throw outcome.error;
      }
      await retry.sleep(pause);
    }
  };
}

/** Sends a copy of the request. The end of the connection within the body is an error of the connection, too. */
async function sent(send: Send, request: Request): Promise<Response> {
  const response = await send(request.clone());
  if (IDEMPOTENT.has(request.method)) await response.clone().arrayBuffer();
  return response;
}

/** Seconds before the retry with this number, from 0, or undefined to end with the outcome. */
function pauseAfter(retry: Retry, method: string, outcome: Response | { error: unknown }, attempt: number) {
  if (attempt >= retry.retries) return undefined;
  const backoff = retry.random() * Math.min(retry.capSeconds, retry.baseSeconds * 2 ** attempt);
  if (!(outcome instanceof Response)) return isConnectionError(outcome.error) ? backoff : undefined;
  if (!IDEMPOTENT.has(method) || !TRANSIENT.has(outcome.status)) return undefined;
  const atLeast = secondsOf(outcome.headers.get("retry-after") ?? "", retry.now());
  return atLeast <= RETRY_AFTER_SECONDS_MAX ? Math.max(backoff, atLeast) : undefined;
}

/** `fetch` throws a TypeError, whose cause has the code. */
function isConnectionError(error: unknown): boolean {
  const cause = error instanceof TypeError ? (error.cause as { code?: unknown } | undefined) : undefined;
  return typeof cause?.code === "string" && CONNECTION_ERRORS.has(cause.code);
}

/** Seconds of `Retry-After`, which has seconds or a date. 0 if it is missing or invalid. */
function secondsOf(header: string, now: number): number {
  if (/^\d+$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? 0 : Math.max(0, (date - now) / 1000);
}
