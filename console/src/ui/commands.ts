/** Writes requests and command lines as people paste them into a terminal. */

/** Quotes a text with the single quotes of a POSIX shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

interface Request {
  method?: string;
  /** A path of the control plane, such as `/v1/runs`. */
  path: string;
  body?: unknown;
}

export function controlPlaneCurl({ method = 'GET', path, body }: Request): string {
  const parts = [
    `curl -s ${method === 'GET' || body !== undefined ? '' : `-X ${method} `}${quoted(`${location.origin}/api/v1/cp${path}`)}`,
  ];
  parts.push(`-b "service_session=$COOKIE"`);
  if (body !== undefined) {
    if (method !== 'POST') parts.push(`-X ${method}`);
    parts.push(`-H 'content-type: application/json'`, `-d ${quoted(JSON.stringify(body))}`);
  }
  return parts.join(' \\\n  ');
}

export function publicCurl({ method = 'GET', path, body }: Request): string {
  const parts = [`curl -s ${quoted(location.origin + path)}`, `-H "authorization: Bearer $KEY"`];
  if (body !== undefined) {
    if (method !== 'POST') parts.push(`-X ${method}`);
    parts.push(`-H 'content-type: application/json'`, `-d ${quoted(JSON.stringify(body))}`);
  }
  return parts.join(' \\\n  ');
}
