/** What the tools that send a request have in common: which headers they may set, and how an answer becomes text. */
import { fieldsOf } from '../../platform/core/record.ts';
import { ToolError } from './model.ts';

/** These headers change how the connection works or whom it reaches. */
const OWN_HEADERS =
  /^(host|connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*)$/i;
/** With these failures nothing was sent: the model may try something else, and nothing can have happened. */
export const NOT_SENT =
  /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|UND_ERR_INVALID_ARG)$|^ERR_(TLS|INVALID)_|(^|_)CERT_|_(CERT|SIGNATURE)$/;

/** @throws ToolError naming the header, never its value */
export const checkedHeaders = (given: Readonly<Record<string, string>>): Headers => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (OWN_HEADERS.test(name)) throw new ToolError(`the header ${name} cannot be set`);
    // `Headers` would trim a line break at the end and go on.
    if (/[\r\n\0]/.test(name + value)) throw new ToolError(`the header ${JSON.stringify(name)} has a line break in it`);
    try {
      headers.append(name, value);
    } catch {
      throw new ToolError(`the header ${JSON.stringify(name)} is not one that HTTP allows`);
    }
  }
  return headers;
};

const decoderFor = (contentType: string | null) => {
  const charset = /charset="?([\w-]+)/i.exec(contentType ?? '')?.[1];
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
};

/**
 * @returns undefined where the bytes are no text, which a NUL tells, as that cannot be stored; a character that was cut
 * in two is left out
 */
export const textOf = (bytes: Buffer, contentType: string | null, cut: boolean): string | null => {
  const text = decoderFor(contentType).decode(bytes, { stream: cut });
  return text.includes('\0') ? null : text;
};

/** @returns the `code` of a failure, wherever `fetch` put it */
export const codeOf = (error: unknown): string => {
  const { code, cause, errors } = fieldsOf(error);
  if (typeof code === 'string') return code;
  const inner = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  return inner === undefined ? '' : codeOf(inner);
};
