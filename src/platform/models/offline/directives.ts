/**
 * What a prompt may tell the offline model to do, for tests and demos:
 *
 *     [[tool:<slug> {json}]]   call a tool, once        [[then]]                 those after it in a later turn
 *     [[reject: <reason>]]     reject, as a reviewer    [[sleep:<ms>]]           wait before each reply
 *     [[fail]]  [[fail:<n>]]   be unavailable, always or the first n times for one transcript
 *     [[fail-status:<code>]]   answer with that HTTP status
 *
 * Whatever is quoted from a prompt goes through `withoutDirectives` first: a reply that repeated one would have the
 * next step, whose prompt it becomes part of, carry it out again.
 */
import { parseJson } from '../../core/json.ts';
import { itemAt, last } from '../../core/present.ts';

export interface ToolDirective {
  tool: string;
  input: unknown;
}

export interface Directives {
  /** The directives of one inner list are called together. */
  turns: ToolDirective[][];
  fail?: { status: number; times: number };
  rejection?: string;
  sleepMs: number;
  /** The arguments of these tool directives are no JSON object. */
  unreadable: string[];
}

interface Span {
  start: number;
  end: number;
  name: string;
  body: string;
}

const OPENING = /\[\[(tool|then|fail-status|fail|reject|sleep)(?=[:\]])/g;

/**
 * @returns the index after the JSON object that begins at `start`, or -1 where it never ends; brackets inside strings
 * do not count
 */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{' || char === '[') depth += 1;
    else if ((char === '}' || char === ']') && --depth === 0) return at + 1;
  }
  return -1;
}

function spansOf(text: string): Span[] {
  const spans: Span[] = [];
  if (!text.includes('[[')) return spans;
  let after = 0;
  for (const match of text.matchAll(OPENING)) {
    if (match.index < after) continue;
    const bodyStart = match.index + match[0].length;
    const argument = match[1] === 'tool' ? /^:\s*[\w.-]+\s*(?=\{)/.exec(text.slice(bodyStart, bodyStart + 200)) : null;
    const from = argument ? endOfObject(text, bodyStart + argument[0].length) : bodyStart;
    const close = from < 0 ? -1 : text.indexOf(']]', from);
    if (close < 0) break; // All that follows lies inside the object that never ends.
    after = close + 2;
    spans.push({
      start: match.index,
      end: after,
      name: itemAt(match, 1),
      body: text.slice(bodyStart + 1, close).trim(),
    });
  }
  return spans;
}

function parseTool(body: string): ToolDirective | undefined {
  const [tool] = /^[\w.-]+/.exec(body) ?? [];
  if (!tool) return undefined;
  const json = body.slice(tool.length).trimStart();
  try {
    return { tool, input: json ? parseJson(json) : {} };
  } catch {
    return undefined;
  }
}

/** Reads directives; whatever is none counts as text, and nothing here throws. */
export function parseDirectives(text: string): Directives {
  const found: Directives = { turns: [[]], sleepMs: 0, unreadable: [] };
  for (const { name, body } of spansOf(text)) {
    const number = /^\d{1,9}$/.test(body) ? Number(body) : undefined;
    if (name === 'then') found.turns.push([]);
    else if (name === 'reject') found.rejection = body || 'rejected by directive';
    else if (name === 'sleep') found.sleepMs = number ?? 0;
    else if (name === 'fail') found.fail = { status: 503, times: number ?? Infinity };
    else if (name === 'fail-status') found.fail = { status: number ?? 503, times: Infinity };
    else {
      const directive = parseTool(body);
      if (directive) last(found.turns).push(directive);
      else found.unreadable.push(body);
    }
  }
  return found;
}

export function withoutDirectives(text: string): string {
  let rest = '';
  let at = 0;
  for (const { start, end } of spansOf(text)) {
    rest += text.slice(at, start);
    at = end;
  }
  return at === 0 ? text : (rest + text.slice(at)).replace(/\n{3,}/g, '\n\n').trim();
}
