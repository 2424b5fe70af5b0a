/**
 * Reads what a provider says of an error. Each server has a shape of its own: an object as OpenAI documents it, the same in
 * a list (Gemini's compatible address), a text (Ollama, LM Studio, llama.cpp), `detail` (FastAPI), the fields beside each
 * other (older vLLM), or the answer of another server as a text within (OpenRouter, gateways).
 */
import { parseJson } from '../core/json.ts';
import { fieldsOf, isRecord } from '../core/record.ts';

export interface Said {
  /** In the provider's words; empty where it says nothing. */
  words: string;
  /** Its names for the error (`rate_limit_exceeded`, `INVALID_ARGUMENT`), separated by spaces. */
  names: string;
  /** The status that the error itself names. */
  status: number | undefined;
  /** What it asks to wait, as Google says it. */
  retryAfterMs: number | undefined;
}

/** Nothing that is deeper is meant for anybody. */
const DEEPEST = 6;
const WORDS = ['error', 'errors', 'message', 'detail', 'msg', 'error_description', 'title'];
const NAMES = ['type', 'code', 'status', 'error_type', 'reason'];
const SECONDS = /^(\d+(?:\.\d+)?)s$/;

/** @param body a text as it came, or a value */
export function saidIn(body: unknown): Said {
  const value = typeof body === 'string' ? parsed(body) : body;
  const names: string[] = [];
  let status: number | undefined;
  let retryAfterMs: number | undefined;
  const collect = (each: unknown, depth: number): void => {
    if (depth > DEEPEST) return;
    if (Array.isArray(each)) return each.forEach((one) => collect(one, depth + 1));
    if (!isRecord(each)) return;
    for (const name of NAMES) {
      const said = each[name];
      const number = Number(said);
      if (Number.isInteger(number) && number >= 400 && number <= 599) status ??= number;
      else if (typeof said === 'string') names.push(said);
    }
    const seconds = typeof each.retryDelay === 'string' ? SECONDS.exec(each.retryDelay)?.[1] : undefined;
    if (seconds !== undefined) retryAfterMs ??= Number(seconds) * 1_000;
    collect(each.details, depth + 1);
    collect(each.error, depth + 1);
    collect(each.errors, depth + 1);
    if (isRecord(each.message)) collect(each.message, depth + 1);
  };
  collect(value, 0);
  return { words: wordsIn(value, 0), names: names.join(' '), status, retryAfterMs };
}

function wordsIn(value: unknown, depth: number): string {
  if (depth > DEEPEST) return '';
  if (typeof value === 'string') return withinText(value, depth);
  if (Array.isArray(value))
    return value
      .map((each) => wordsIn(each, depth + 1))
      .filter(Boolean)
      .join('; ');
  if (!isRecord(value)) return '';
  const words = WORDS.map((name) => wordsIn(value[name], depth + 1)).find(Boolean) ?? '';
  // FastAPI says where in the request; OpenRouter has the words of whoever it asked.
  const place = Array.isArray(value.loc) ? value.loc.join('.') : '';
  const raw = wordsIn(fieldsOf(value.metadata).raw, depth + 1);
  return [place, words, raw].filter(Boolean).join(': ');
}

/** @returns the words of an answer that stands in a text; nothing of a page */
function withinText(text: string, depth: number): string {
  const inner = /^\s*[[{]/.test(text) ? parsed(text) : text;
  if (typeof inner !== 'string') return wordsIn(inner, depth + 1);
  return /^\s*</.test(inner) ? '' : inner.trim();
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
