/** The code of a response whose body is not an error of the server, such as that of a proxy. */
const UNEXPECTED = "unexpected_response";

/** A response with another status than 2xx. */
export class LatheError extends Error {
  override name = "LatheError";

  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
    readonly details?: unknown,
  ) {
    super(message);
  }
}

/** Reads both forms of an error: `{"error": {…}}` of the Library, and `{"detail", "code"}`. */
export async function errorOf(response: Response): Promise<LatheError> {
  const body: unknown = await response.json().catch(() => undefined);
  const inner = field(body, "error");
  const [code, message] = [field(inner, "code"), field(inner, "message")];
  if (typeof code === "string" && typeof message === "string") {
    return new LatheError(code, response.status, message, field(inner, "details"));
  }
  const [outer, detail] = [field(body, "code"), field(body, "detail")];
  if (typeof outer === "string" && detail !== undefined) {
    return typeof detail === "string"
      ? new LatheError(outer, response.status, detail)
      : new LatheError(outer, response.status, "the request is invalid", detail);
  }
  return new LatheError(UNEXPECTED, response.status, response.statusText);
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
