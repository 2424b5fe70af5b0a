/**
 * Sends one HTTP request to an address that the workspace chose, through the guarded `fetch`. The address belongs to
 * the tool, not to the model: an argument fills a place in its path or query and can neither leave that place nor reach
 * the host. What authorizes the request stays out of results, errors and logs.
 */
import { z } from 'zod';
import { messageOf } from '../../../platform/core/causes.ts';
import { parseJson } from '../../../platform/core/json.ts';
import { present } from '../../../platform/core/present.ts';
import { storable, storableText } from '../../../platform/core/storable.ts';
import { ForbiddenAddressError } from '../../../platform/egress/egress.ts';
import { bodyLimitIn } from '../../../platform/egress/limits.ts';
import { readCapped } from '../../../platform/egress/read-capped.ts';
import { originFault } from '../../integrations/model.ts';
import type { Effect } from '../../runs/model.ts';
import { checkedHeaders, codeOf, NOT_SENT, textOf } from '../http.ts';
import { ToolError, type CustomTool, type ToolContext } from '../model.ts';
import { customKind, TimeoutS, type ToolBody } from './kind.ts';
import { fill, missingIn, undeclaredIn } from './placeholders.ts';
import { isSecret, redact, spellingsOf } from './secrets.ts';
import { checkUrlTemplate, fillUrl, hostOf, templateOrigin } from './url-template.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof METHODS)[number];
const DEFAULT_METHOD: Method = 'POST';
const DEFAULT_TIMEOUT_S = 30;
const WITHOUT_BODY: ReadonlySet<Method> = new Set(['GET', 'HEAD']);
const MAX_HEADERS = 50;
const MAX_ANSWER_BYTES = 64 * 1_024;
const MAX_EXCERPT = 500;

const Body = z.strictObject({
  url: z.string().min(1).max(4_000),
  method: z.enum(METHODS).optional(),
  headers: z
    .record(z.string().max(200), z.string().max(8_000))
    .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, `at most ${MAX_HEADERS}`)
    .optional(),
  timeout_s: TimeoutS.optional(),
});
type Webhook = z.output<typeof Body>;

/** The effect follows from what HTTP says of the method. */
const effectOfMethod = (method: unknown): Effect => {
  if (method === 'GET' || method === 'HEAD') return 'read';
  return method === 'PUT' || method === 'DELETE' ? 'idempotent' : 'irreversible';
};

const check = ({ url, headers = {} }: Webhook, { schema }: ToolBody): string | undefined => {
  const fault = checkUrlTemplate(url);
  if (fault) return `url: ${fault}`;
  for (const [field, text] of [
    ['url', url],
    ...Object.entries(headers).map(([name, value]) => [`headers.${name}`, value]),
  ]) {
    const undeclared = undeclaredIn(present(text), schema);
    if (undeclared !== undefined) return `${field}: {${undeclared}} is not a property of the schema`;
  }
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  if (new Set(names).size < names.length) return 'headers: has one name twice';
  try {
    checkedHeaders(Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value, {})])));
  } catch (error) {
    return `headers: ${messageOf(error)}`;
  }
  return undefined;
};

/** A header whose argument was not given is left out. */
const headersOf = ({ headers = {} }: Webhook, args: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([, value]) => missingIn(value, args) === undefined)
      .map(([name, value]) => [name, fill(value, args)]),
  );

/**
 * Adds the token of the tool's integration.
 * @param url the address that the request is sent to
 * @returns the token, if one was added
 * @throws ToolError if the integration has no credential, or its token does not belong to the address
 */
async function authorize(
  headers: Headers,
  url: string,
  { integration }: CustomTool,
  { credential }: ToolContext,
): Promise<string[]> {
  if (integration === null || headers.has('authorization')) return [];
  const given = await credential(integration);
  if (given === undefined) throw new ToolError(`the integration "${integration}" has no credential in this workspace`);
  // The tool was checked when it was saved, but its integration may have got another address since.
  const fault = originFault(integration, given, new URL(url).origin);
  if (fault) throw new ToolError(fault);
  const { token } = given;
  // This check is made here, because the message of `Headers` would repeat the value.
  for (const [name, value] of checkedHeaders({ authorization: `Bearer ${token}` })) headers.set(name, value);
  return [token];
}

/** @returns the value of JSON, otherwise the text, without anything that authorized the request */
const contentOf = (text: string, contentType: string | null, secrets: readonly string[]): unknown => {
  if (/[/+]json\b/i.test(contentType ?? '')) {
    try {
      return storable(redact(parseJson(text), secrets));
    } catch {
      // The text is no JSON, or is nested deeper than can be kept; as text it says as much.
    }
  }
  return storableText(redact(text, secrets) as string);
};

async function answerOf(response: Response, secrets: readonly string[]) {
  const { bytes, cut } = await readCapped(response, MAX_ANSWER_BYTES);
  const contentType = response.headers.get('content-type');
  const text = textOf(bytes, contentType, cut);
  return {
    status: response.status,
    body: text === null ? null : contentOf(text, cut ? null : contentType, secrets),
    ...(cut ? { truncated: true } : {}),
  };
}

/** @returns the failure that tells the model or, where a repetition may do better, the workflow */
const refusalOf = ({ status, body }: { status: number; body: unknown }, host: string, effect: Effect): Error => {
  const told = `${host} answered ${status}`;
  // The error's text becomes history, so it has no content.
  if (status >= 500 && effect !== 'irreversible') return new Error(told);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const excerpt = text.slice(0, MAX_EXCERPT).toWellFormed();
  return new ToolError(body === null || text === '' ? told : `${told}: ${excerpt}`);
};

const explain = (error: unknown, host: string, effect: Effect): unknown => {
  if (error instanceof ForbiddenAddressError) return new ToolError(`this address is not allowed: ${error.message}`);
  if (NOT_SENT.test(codeOf(error))) return new ToolError(`${host} cannot be reached: ${codeOf(error)}`);
  const limit = effect === 'read' && bodyLimitIn(error);
  if (limit) return new ToolError(`${host}: ${limit.message}`);
  // Nobody knows whether the request was carried out, which is not for the model to judge.
  return error;
};

export const webhook = customKind({
  defaults: { shape: 'api', sensitive: false, effect: ({ method }) => effectOfMethod(method) },
  body: Body,
  check,
  secretFields: ['headers'],
  originOf: ({ url }) => templateOrigin(url),
  async execute(body, args, context, tool) {
    const { method = DEFAULT_METHOD, timeout_s = DEFAULT_TIMEOUT_S } = body;
    const { effect } = tool;
    const url = fillUrl(body.url, args);
    const own = headersOf(body, args);
    const headers = checkedHeaders(own);
    const credentials = await authorize(headers, url, tool, context);
    const hasBody = !WITHOUT_BODY.has(method);
    if (hasBody && !headers.has('content-type')) headers.set('content-type', 'application/json');
    const secrets = spellingsOf([
      ...credentials,
      ...Object.entries(own).flatMap(([name, value]) => (isSecret(name, body.headers![name]!) ? [value] : [])),
    ]);

    const host = hostOf(body.url);
    let answer: Awaited<ReturnType<typeof answerOf>>;
    try {
      const sent = { method, headers, signal: context.signal, ...(hasBody ? { body: JSON.stringify(args) } : {}) };
      const limits = { totalMs: timeout_s * 1_000, raisedBy: { time: 'timeout_s' } };
      const response = await context.fetch(url, sent, limits);
      answer = await answerOf(response, secrets);
    } catch (error) {
      throw explain(error, host, effect);
    }
    if (answer.status >= 400) throw refusalOf(answer, host, effect);
    return answer;
  },
});
