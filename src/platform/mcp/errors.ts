/**
 * Names the ways in which a request to an MCP server fails. Its messages are the product's own: nothing that a server
 * or an address says is in them, but for a refusal.
 */
import { fieldsOf } from '../core/record.ts';
import { ForbiddenAddressError } from '../egress/egress.ts';
import { bodyLimitIn } from '../egress/limits.ts';

/** Nothing was asked of the server, because it cannot be reached at the moment. */
export class McpUnavailableError extends Error {
  override readonly name = 'McpUnavailableError';
}

/** The server refused, or answered in a way that cannot be understood. Its words are in the message. */
export class McpRefusalError extends Error {
  override readonly name = 'McpRefusalError';
}

/** No answer came in time. What was asked may or may not have happened. */
export class McpTimeoutError extends Error {
  override readonly name = 'McpTimeoutError';
}

/** The connection has broken and is of no more use. */
export class McpConnectionError extends Error {
  override readonly name = 'McpConnectionError';
  /** The server has not taken up what was asked, so that it may be asked again. */
  readonly isUnsent: boolean;

  constructor(message: string, isUnsent: boolean) {
    super(message);
    this.isUnsent = isUnsent;
  }
}

/** With these codes the failure came before anything was sent. */
const NOT_SENT = /^(ENOENT|EACCES|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

/** @returns the `code` of a system's failure, wherever in the error it was put */
const codeOf = (error: unknown): string => {
  const { code, cause, errors } = fieldsOf(error);
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code)) return code;
  const inner = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  return inner === undefined ? '' : codeOf(inner);
};

/** @returns whatever a transport threw, as one of the errors above; `session.ts` knows those of the SDK */
export function namedFailure(error: unknown): Error {
  if (error instanceof McpConnectionError || error instanceof McpTimeoutError || error instanceof McpRefusalError)
    return error;
  if (error instanceof ForbiddenAddressError) return new McpConnectionError('its address is not allowed', true);
  const limit = bodyLimitIn(error);
  if (limit) return new McpRefusalError(limit.message);
  const code = codeOf(error);
  return new McpConnectionError(`it cannot be reached${code && ` (${code})`}`, NOT_SENT.test(code));
}
