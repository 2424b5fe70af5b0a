/**
 * What a provider's failure means for the run: one name, whether another attempt may help, and what a person can do.
 *
 * The texts end in run records and logs. They carry no credential: what a provider says is quoted only after
 * everything that is or looks like a key was taken out, and of a refused key nothing is quoted at all.
 */
// The errors alone: what calls providers is loaded by who calls one.
import { AISDKError, APICallError } from '@ai-sdk/provider';
import { causesOf, errorCodeOf } from '../core/causes.ts';
import { bodyLimitIn } from '../egress/limits.ts';
import { PROVIDERS, secretsAmong } from './catalogue.ts';
import { retryAfterMsIn } from './provider-numbers.ts';
import { ModelFailure, type ModelCredentials, type ResolvedModel } from './types.ts';

/** How providers and servers (OpenAI, Anthropic, vLLM, llama.cpp, Ollama, Mistral, gateways) say "too long". */
const CONTEXT_OVERFLOW =
  /context[_ ]?(length|window|limit|size)|prompt is too long|input is too long|too many (input )?tokens|maximum number of tokens|reduce the length|request_too_large/i;

/** undici and Node's sockets throw errors with such a `code`. */
const TIMEOUT_CODE = /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/;
const CONNECTION_CODE = /^(ECONN\w+|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_\w+)$/;

interface Subject {
  resolved: Pick<ResolvedModel, 'model' | 'provider'>;
  credentials: ModelCredentials;
}

/** Takes known keys and what is shaped like one out of a text, and keeps it short. */
function quote(text: string, credentials: ModelCredentials): string {
  let safe = text;
  for (const secret of secretsAmong(credentials)) if (secret) safe = safe.replaceAll(secret, '***');
  safe = safe
    .replace(/\b(sk|pk|key|api|xai|gsk)[-_][\w*.-]{6,}|\bBearer\s+\S+/gi, '***')
    .replace(/\s+/g, ' ')
    .trim();
  return safe.length > 300 ? `${safe.slice(0, 300).toWellFormed()}...` : safe;
}

const codeOf = (error: unknown, pattern: RegExp): string | undefined => {
  for (const each of causesOf(error)) {
    const code = errorCodeOf(each);
    if (typeof code === 'string' && pattern.test(code)) return code;
  }
  return undefined;
};

function ofStatus(error: APICallError, { resolved, credentials }: Subject): ModelFailure {
  const { statusCode: status = 0, message: said, responseBody = '', responseHeaders } = error;
  const who = `${labelOf(resolved)} (model ${resolved.model})`;
  const quoted = quote(said, credentials);
  const retryAfterMs = retryAfterMsIn(responseHeaders);

  if (status === 429) {
    const wait = retryAfterMs === undefined ? '' : ` It asks to wait ${Math.ceil(retryAfterMs / 1_000)} s.`;
    const text = `${who} is limiting the rate of calls.${wait} If it persists, raise the account's limit.`;
    return new ModelFailure('model_rate_limited', text, { retryable: true, retryAfterMs });
  }
  if (status === 408) return timedOut(resolved);
  if (status >= 500) {
    const text = `${who} is not available: it answered ${status}.`;
    return new ModelFailure('model_unavailable', text, { retryable: true, retryAfterMs });
  }
  if (status === 401 || status === 403) {
    const text = `${who} refused the credential (${status}). Check the API key and what it may use.`;
    return new ModelFailure('model_auth_failed', text);
  }
  if (status === 413 || (status === 400 && CONTEXT_OVERFLOW.test(`${said} ${responseBody}`)))
    return overflow(who, quoted);
  const hint =
    status === 404 ? 'Check the model id and the base URL.' : "Check the request against the provider's documentation.";
  const text = `${who} refused the request (${status}): ${quoted || 'no reason given'}. ${hint}`;
  return new ModelFailure('model_refused_request', text);
}

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

/** Another attempt would cost as much, and most likely end the same. */
export const tooLong = (resolved: Subject['resolved'], why: string): ModelFailure =>
  new ModelFailure(
    'model_reply_too_long',
    `${labelOf(resolved)} (model ${resolved.model}) sent more than a reply may have: ${why}.`,
  );

/**
 * Reads an error inside a stream that had begun, which comes in the provider's own words: a string, or an object with a
 * type or code.
 */
function ofStreamError(error: unknown, subject: Subject): ModelFailure {
  const said = typeof error === 'string' ? error : JSON.stringify(error);
  const who = `${labelOf(subject.resolved)} (model ${subject.resolved.model})`;
  const quoted = quote(said, subject.credentials);
  if (CONTEXT_OVERFLOW.test(said)) return overflow(who, quoted);
  if (/rate[_ ]?limit|too many requests/i.test(said)) {
    return new ModelFailure('model_rate_limited', `${who} is limiting the rate of calls: ${quoted}.`, {
      retryable: true,
    });
  }
  return new ModelFailure('model_unavailable', `${who} broke off its reply: ${quoted}.`, { retryable: true });
}

/**
 * @returns a `ModelFailure` for whatever a provider did; an error that is not a provider's doing is returned as it is
 */
export function toModelFailure(error: unknown, subject: Subject): unknown {
  if (error instanceof ModelFailure) return error;
  const limit = bodyLimitIn(error);
  if (limit) return limit.limit === 'time' ? timedOut(subject.resolved) : tooLong(subject.resolved, limit.message);
  // A connection lost in the middle of a reply is an APICallError too, with the 200 that the reply began with.
  if (APICallError.isInstance(error) && (error.statusCode ?? 0) >= 400) return ofStatus(error, subject);
  if (codeOf(error, TIMEOUT_CODE)) return timedOut(subject.resolved);

  const code = codeOf(error, CONNECTION_CODE);
  // `fetch failed` and `terminated` are how fetch says that there is, or no longer is, a connection.
  const isConnection =
    code ??
    [...causesOf(error)].some(
      (each) => each instanceof Error && /fetch failed|terminated|Cannot connect/.test(each.message),
    );
  if (isConnection) {
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
