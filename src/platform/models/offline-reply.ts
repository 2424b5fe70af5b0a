/**
 * Writes what the offline model answers. It has no knowledge, so it says what it was given: the request, what the tools
 * answered, and the memory and context of its prompt, as Markdown that a person can read and a test can check.
 */
import { itemAt } from '../core/present.ts';
import { withoutDirectives } from './offline-directives.ts';
import type { Transcript } from './offline-transcript.ts';

const OFFLINE_NOTICE =
  '[offline model] No model provider was called; this reply is put together from the request and its context.';

/** Sections of a prompt whose Markdown heading or tag matches hold knowledge. */
const KNOWLEDGE = /memor|context|upstream|artifact|knowledge|feedback|attachment|skill/i;
/**
 * The pattern is for a line without spaces around it. Of two neighbours in it none takes a character that the other
 * could take, which keeps it linear.
 */
const HEADING = /^(?:#{1,6}\s+(?<title>\S.*)|<(?<tag>[a-z][\w-]*)(?:[^\w>-][^>]*)?>)$/i;
const CLOSING_TAG = /^<\/[\w-]+>$/;

/** Cuts a text, never within a character. */
export const clip = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 3).toWellFormed()}...`;

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** The request of a project's step has its subject under this heading, and says what to do before the first one. */
const BRIEF = /^##\s+Brief\s*$/i;

/** @returns what a request is about, and what is to be done with it where the request says so apart */
export function subjectOf(request: string): { subject: string; task: string | null } {
  const all = request.split('\n');
  const at = all.findIndex((line) => BRIEF.test(line));
  if (at < 0) return { subject: request, task: null };
  const after = all.slice(at + 1);
  const end = after.findIndex((line) => /^##\s/.test(line));
  const first = all.findIndex((line) => /^##\s/.test(line));
  const subject = after.slice(0, end < 0 ? undefined : end).join('\n');
  return { subject: subject.trim() || request, task: all.slice(0, first).join('\n').trim() || null };
}

/** @returns the first line that is a sentence and no heading or tag; without one, the first line */
export function titleOf(text: string): string {
  const all = lines(withoutDirectives(text));
  const line = all.find((each) => !HEADING.test(each) && !CLOSING_TAG.test(each)) ?? all[0] ?? 'Untitled';
  return clip(line.replace(/^[#>*\-\s]+/, '') || 'Untitled', 80);
}

/** @returns at most 20 lines of the sections that hold memory, context or artifacts */
function knowledgeIn(text: string): string[] {
  const found: string[] = [];
  let inside = false;
  for (const line of lines(withoutDirectives(text))) {
    const heading = HEADING.exec(line);
    if (heading) inside = KNOWLEDGE.test(heading.groups?.title ?? heading.groups?.tag ?? '');
    else if (CLOSING_TAG.test(line)) inside = false;
    else if (inside) found.push(clip(line.replace(/^[-*]\s+/, ''), 200));
  }
  return found.slice(0, 20);
}

const section = (title: string, items: readonly string[]): string[] =>
  items.length === 0 ? [] : ['', `## ${title}`, '', ...items.map((item) => `- ${item}`)];

/** @returns the answer as Markdown, without the notice */
export function composeAnswer(
  { system, request, earlier, outcomes }: Transcript,
  notes: readonly string[] = [],
): string {
  const { subject, task } = subjectOf(withoutDirectives(request));
  const results = outcomes.slice(-10).map(({ tool, input, result }) => {
    const given = clip(JSON.stringify(input) ?? '', 120);
    return withoutDirectives(`${tool} ${given}: ${clip(result.replace(/\s+/g, ' '), 600)}`);
  });
  return [
    `# ${titleOf(subject)}`,
    '',
    clip(subject, 2_000),
    ...(task === null ? [] : ['', '## What was asked', '', clip(task, 600)]),
    ...section('Tool results', results),
    ...section('Context', [...knowledgeIn(system), ...knowledgeIn(request)]),
    ...section(
      'Earlier in this conversation',
      earlier.slice(-5).map((text) => titleOf(text)),
    ),
    ...section('Notes', notes),
  ].join('\n');
}

/** @returns the whole reply as text; that of a reviewer starts with its decision */
export function composeText(
  transcript: Transcript,
  { rejection, notes }: { rejection?: string; notes: readonly string[] },
): string {
  // The first line of a system prompt says who the model is to be; prompts of other roles may speak of reviews too.
  const isReviewer = /\breview/i.test(itemAt(transcript.system.trimStart().split('\n', 1), 0));
  const decision =
    rejection === undefined ? (isReviewer ? ['Decision: approve', ''] : []) : [`Decision: reject. ${rejection}`, ''];
  return [OFFLINE_NOTICE, '', ...decision, composeAnswer(transcript, notes)].join('\n');
}
