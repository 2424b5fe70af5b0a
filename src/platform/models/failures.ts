/**
 * What a provider's failure means for the run: one name, whether another attempt may help, and what a person can do.
 *
 * The texts end in run records and logs. They carry no credential: what a provider says is quoted only after
 * everything that is or looks like a key was taken out, and of a refused key nothing is quoted at all.
 */
// The errors alone: what calls providers is loaded by who calls one.
import { AISDKError, APICallError } from '@ai-sdk/provider';
import { causesOf, errorCodeOf } from '../core/causes.ts';
import { fieldsOf } from '../core/record.ts';
import { withoutKeys } from '../core/text.ts';
import { bodyLimitIn } from '../egress/limits.ts';
import { PROVIDERS, secretsAmong } from './catalogue.ts';
import type { RunFailure } from '../core/problem.ts';
import { howToRaise, type OutputLimit } from './output-limit.ts';
import { retryAfterMsIn } from './provider-numbers.ts';
import { saidIn, type Said } from './said.ts';
import { ModelFailure, type ModelCredentials, type ResolvedModel } from './types.ts';

/** How providers and servers (OpenAI, Anthropic, vLLM, llama.cpp, Ollama, Mistral, gateways) say "too long". */
const CONTEXT_OVERFLOW =
  /context[_ ]?(length|window|limit|size)|prompt is too long|input is too long|too many (input )?tokens|maximum number of tokens|reduce the length|request_too_large/i;

/** undici and Node's sockets throw errors with such a `code`. */
const TIMEOUT_CODE = /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/;
const CONNECTION_CODE = /^(ECONN\w+|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_\w+)$/;

/** No status of HTTP: the provider gives no answer to this. */
const BLOCKED = 0;

/** OpenSSL and Node say with such a `code` that they do not trust a certificate. */
const CERTIFICATE_CODE = /^(?:CERT_|UNABLE_TO_|ERR_TLS_CERT_)|SELF_SIGNED/;

/** How `fetch` and the SDK say that there is, or no longer is, a connection: in these words, and no others. */
const isConnectionLost = ({ message }: Error): boolean =>
  message === 'fetch failed' || message === 'terminated' || message.startsWith('Cannot connect to API');

interface Subject {
  resolved: Pick<ResolvedModel, 'model' | 'provider'>;
  credentials: ModelCredentials;
  maxRetryAfterMs?: number;
}

/** Takes known keys and what is shaped like one out of a text, and keeps it short. */
function quote(text: string, credentials: ModelCredentials): string {
  let safe = text;
  for (const secret of secretsAmong(credentials)) if (secret) safe = safe.replaceAll(secret, '***');
  safe = withoutKeys(safe).replace(/\s+/g, ' ').trim();
  return safe.length > 300 ? `${safe.slice(0, 300).toWellFormed()}...` : safe;
}

const codeOf = (error: unknown, pattern: RegExp): string | undefined => {
  for (const each of causesOf(error)) {
    const code = errorCodeOf(each);
    if (typeof code === 'string' && pattern.test(code)) return code;
  }
  return undefined;
};

const whoIn = ({ resolved }: Subject): string => `${labelOf(resolved)} (model ${resolved.model})`;

/** A provider names the class of an error in its answer, beside or instead of the status. */
const CLASSES: readonly [names: RegExp, status: number][] = [
  [/insufficient_(quota|balance|credits)|billing|payment_required/i, 402],
  [/rate_?limit|too_?many_?requests|resource_?exhausted|throttl/i, 429],
  [/content_?(filter|policy)|safety|moderation/i, BLOCKED],
  [/overloaded|unavailable|server_?error|internal|api_error|timeout|timed_?out/i, 503],
  [/unauthori|authentication|permission|forbidden|invalid_api_key|api_key_invalid/i, 401],
  [/invalid|validation|bad_?request|not_?found|unsupported|context_length|failed_precondition/i, 400],
];
const statusNamed = (names: string): number | undefined => CLASSES.find(([pattern]) => pattern.test(names))?.[1];

/** @param heard what else is known of the answer */
function ofStatus(
  status: number,
  said: Said,
  subject: Subject,
  { retryAfterMs, isBroken = false }: { retryAfterMs?: number | undefined; isBroken?: boolean } = {},
): ModelFailure {
  const who = whoIn(subject);
  const quoted = quote(said.words, subject.credentials);
  const saying = quoted ? `: ${quoted}` : '';
  const named = statusNamed(said.names);

  // OpenAI says 429 of an account without credit too, which no waiting helps.
  if (status === 402 || (status === 429 && named === 402)) {
    const text = `${who} has no credit left for this account (${status})${saying}. Add credit, or choose another model.`;
    return new ModelFailure('model_refused_request', text);
  }
  if (status === 429) {
    const wait = retryAfterMs === undefined ? '' : ` It asks to wait ${inSeconds(retryAfterMs)}.`;
    const text = `${who} is limiting the rate of calls${saying}.${wait} If it persists, raise the account's limit.`;
    return again('model_rate_limited', text, subject, retryAfterMs);
  }
  if (status === 408) return timedOut(subject.resolved);
  // Of an error inside a stream the SDK says 500 where it does not know its name.
  if (status === BLOCKED || named === BLOCKED) return refused(subject.resolved, quoted);
  if (status >= 500) {
    const what = isBroken ? `broke off its reply${saying}` : `is not available: it answered ${status}${saying}`;
    return again('model_unavailable', `${who} ${what}.`, subject, retryAfterMs);
  }
  // Google says 400 of a key that it does not know.
  if (status === 401 || status === 403 || (status === 400 && named === 401)) {
    // Of a refused key nothing is quoted; of what a key may not do, the reason.
    const why = status === 403 ? saying : '';
    const text = `${who} refused the credential (${status})${why}. Check the API key and what it may use.`;
    return new ModelFailure('model_auth_failed', text);
  }
  if (status === 413 || (status === 400 && CONTEXT_OVERFLOW.test(`${said.words} ${said.names}`)))
    return overflow(who, quoted);
  const hint =
    status === 404 ? 'Check the model id and the base URL.' : "Check the request against the provider's documentation.";
  const text = `${who} refused the request (${status}): ${quoted || 'no reason given'}. ${hint}`;
  return new ModelFailure('model_refused_request', text);
}

/** Another attempt may help, unless the provider asks to wait for longer than a call may. */
function again(
  code: RunFailure,
  text: string,
  { maxRetryAfterMs: mostMs = Infinity }: Subject,
  retryAfterMs: number | undefined,
): ModelFailure {
  const isTooLong = (retryAfterMs ?? 0) > mostMs;
  const why = isTooLong
    ? ` A wait of ${inSeconds(retryAfterMs ?? 0)} is longer than MODEL_MAX_RETRY_AFTER (${inSeconds(mostMs)}).`
    : '';
  return new ModelFailure(code, text + why, { retryable: !isTooLong, retryAfterMs });
}

const inSeconds = (ms: number): string => `${Math.ceil(ms / 1_000)} s`;

function labelOf({ provider }: Subject['resolved']): string {
  if (provider === 'offline') return 'The offline model';
  if (provider === 'sample') return 'The recorded sample';
  return PROVIDERS[provider].phrase ?? PROVIDERS[provider].label;
}

const overflow = (who: string, quoted: string) =>
  new ModelFailure(
    'model_context_overflow',
    `${who} takes no conversation this long: ${quoted}. Shorten the brief, attachments or thread, or choose a model with a larger window.`,
  );

/** A provider was configured after the run had begun on its recording. */
export const sampleSuperseded = (): ModelFailure =>
  new ModelFailure(
    'model_unavailable',
    'This run began on recorded sample content, and a model provider has been configured since. Start it again to have the model answer.',
  );

const distrusted = (subject: Subject, code: string): ModelFailure =>
  new ModelFailure(
    'model_unavailable',
    `The certificate of ${whoIn(subject)} is not trusted (${code}). NODE_EXTRA_CA_CERTS names a file with the certificates of an authority of your own.`,
  );

export const timedOut = (resolved: Subject['resolved'], timeoutMs?: number): ModelFailure =>
  new ModelFailure(
    'model_timeout',
    `${labelOf(resolved)} (model ${resolved.model}) did not answer in time${timeoutMs === undefined ? '' : ` (${timeoutMs} ms)`}. MODEL_TIMEOUT sets how long a call may take.`,
    { retryable: true },
  );

export const malformed = (resolved: Subject['resolved'], why: string): ModelFailure =>
  new ModelFailure(
    'model_malformed_reply',
    `${labelOf(resolved)} (model ${resolved.model}) gave no usable reply: ${why || 'it could not be read'}.`,
    {
      retryable: true,
    },
  );

/** The same call would end the same way. @param what was cut off */
export const truncated = (resolved: Subject['resolved'], what: string, limit: OutputLimit): ModelFailure =>
  new ModelFailure(
    'model_output_truncated',
    `${labelOf(resolved)} (model ${resolved.model}) used up the limit of ${limit.tokens} output tokens ${what}. ${howToRaise(limit)}`,
  );

/** @param quoted the provider's words, or '' */
export const refused = (resolved: Subject['resolved'], quoted = ''): ModelFailure =>
  new ModelFailure(
    'model_refused',
    `${labelOf(resolved)} (model ${resolved.model}) gives no answer to this${quoted ? `: ${quoted}` : ', by its rules on content'}. Change what is asked, or choose another model.`,
  );

/** Another attempt would cost as much, and most likely end the same. */
export const tooLong = (resolved: Subject['resolved'], why: string): ModelFailure =>
  new ModelFailure(
    'model_reply_too_long',
    `${labelOf(resolved)} (model ${resolved.model}) sent more than a reply may have: ${why}.`,
  );

/** Reads an error inside a stream that had begun. */
function ofStreamError(error: unknown, subject: Subject): ModelFailure {
  const said = saidIn(error);
  const status = said.status ?? statusNamed(said.names) ?? statusInWords(said.words);
  return ofStatus(status, said, subject, { isBroken: true });
}

/** The SDK keeps the name of an error beside what it came with. */
function namedWithin(error: unknown): unknown {
  const { data, type, code } = fieldsOf(error);
  return [data, { type, code }];
}

/** Where it has no name, its words are all that there is. */
function statusInWords(words: string): number {
  if (CONTEXT_OVERFLOW.test(words)) return 400;
  return /rate[_ ]?limit|too many requests/i.test(words) ? 429 : 503;
}

/**
 * @returns a `ModelFailure` for whatever a provider did; an error that is not a provider's doing is returned as it is
 */
export function toModelFailure(error: unknown, subject: Subject): unknown {
  if (error instanceof ModelFailure) return error;
  const limit = bodyLimitIn(error);
  if (limit) return limit.limit === 'time' ? timedOut(subject.resolved) : tooLong(subject.resolved, limit.message);
  // A connection lost in the middle of a reply is an APICallError too, with the 200 that the reply began with.
  if (APICallError.isInstance(error) && (error.statusCode ?? 0) >= 400) {
    const { statusCode = 400, message, responseBody, responseHeaders } = error;
    const said = saidIn(responseBody);
    const words = said.words || message;
    return ofStatus(statusCode, { ...said, words }, subject, {
      retryAfterMs: retryAfterMsIn(responseHeaders) ?? said.retryAfterMs,
    });
  }
  if (AISDKError.isInstance(error) && error.name === 'AI_StreamProviderError')
    return ofStreamError(namedWithin(error), subject);
  if (codeOf(error, TIMEOUT_CODE)) return timedOut(subject.resolved);
  const untrusted = codeOf(error, CERTIFICATE_CODE);
  if (untrusted) return distrusted(subject, untrusted);

  const code = codeOf(error, CONNECTION_CODE);
  if (code || [...causesOf(error)].some(isConnectionLost)) {
    return new ModelFailure(
      'model_unavailable',
      `The connection to ${labelOf(subject.resolved)} (model ${subject.resolved.model}) failed${code ? ` (${code})` : ''}. Check that its address is right and that it runs.`,
      { retryable: true },
    );
  }
  if (AISDKError.isInstance(error)) {
    // The SDK's own names: AI_InvalidPromptError is about what was sent, all others about what came back.
    if (error.name === 'AI_InvalidPromptError' || error.name === 'AI_UnsupportedFunctionalityError') {
      return new ModelFailure(
        'model_refused_request',
        `The request cannot be put to ${labelOf(subject.resolved)}: ${quote(error.message, subject.credentials)}`,
      );
    }
    // The validator's own listing follows after this.
    const [why = ''] = error.message.split('\nError message:');
    return malformed(subject.resolved, quote(why, subject.credentials).replace(/(?<![.:\s])[.:\s]+$/, ''));
  }
  return error instanceof Error ? error : ofStreamError(error, subject);
}
