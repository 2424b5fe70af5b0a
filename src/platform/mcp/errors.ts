/** How a request to an MCP server fails. The messages are ours: nothing that a server or an address says is in them. */
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ForbiddenAddressError } from '../egress/egress.ts';
import { bodyLimitIn } from '../egress/limits.ts';

/** Nothing was asked of the server: it cannot be reached at the moment. */
export class McpUnavailableError extends Error {
  override readonly name = 'McpUnavailableError';
}

/** The server answered that it will not, or in a way that cannot be understood. Its words are in the message. */
export class McpRefusalError extends Error {
  override readonly name = 'McpRefusalError';
}

/** No answer in time. What was asked may or may not happen. */
export class McpTimeoutError extends Error {
  override readonly name = 'McpTimeoutError';
}

/** The connection is of no more use. */
export class McpConnectionError extends Error {
  override readonly name = 'McpConnectionError';
  /** The server has not taken up what was asked: it may be asked again. */
  readonly isUnsent: boolean;

  constructor(message: string, isUnsent: boolean) {
    super(message);
    this.isUnsent = isUnsent;
  }
}

/** Failures before anything was sent. */
const NOT_SENT = /^(ENOENT|EACCES|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

/** The `code` of a system's failure, wherever it was put. */
const codeOf = (error: unknown): string => {
  const { code, cause, errors } = (error ?? {}) as { code?: unknown; cause?: unknown; errors?: unknown[] };
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code)) return code;
  const inner = cause ?? errors?.[0];
  return inner === undefined ? '' : codeOf(inner);
};

/** Whatever the SDK or a transport throws, as one of the above. */
export function namedFailure(error: unknown): Error {
  if (error instanceof McpConnectionError || error instanceof McpTimeoutError || error instanceof McpRefusalError)
    return error;
  if (error instanceof StreamableHTTPError) {
    const status = error.code ?? 0;
    const isRefused = status >= 400 && status < 500;
    if (status === 401 || status === 403) return new McpConnectionError('it refuses the credential', true);
    return new McpConnectionError(status > 0 ? `it answers with status ${status}` : 'it does not speak MCP', isRefused);
  }
  if (error instanceof McpError && error.code !== ErrorCode.ConnectionClosed) return new McpRefusalError(error.message);
  if (error instanceof ForbiddenAddressError) return new McpConnectionError('its address is not allowed', true);
  const limit = bodyLimitIn(error);
  if (limit) return new McpRefusalError(limit.message);
  const code = codeOf(error);
  return new McpConnectionError(`it cannot be reached${code && ` (${code})`}`, NOT_SENT.test(code));
}
