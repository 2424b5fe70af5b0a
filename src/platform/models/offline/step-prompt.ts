/**
 * Reads the prompt of a project's step: which project it is, and what earlier steps made. What stands before the brief
 * are instructions; nothing is read of them. `src/resources/projects/prompt.ts` writes these prompts.
 */
import { parseJson } from '../../core/json.ts';

/** What an earlier phase or an earlier step of the same phase made. */
export interface UpstreamOutput {
  from: 'phase' | 'step';
  /** JSON, or Markdown as a string. */
  value: unknown;
}

export interface StepPrompt {
  title: string;
  phaseTitle: string;
  stepTitle: string;
  brief: string;
  params: Record<string, string>;
  /** What reviewers and people said of an earlier attempt. */
  feedback: string[];
  /** The latest first; steps of the same phase before other phases. */
  upstream: UpstreamOutput[];
}

type Part = 'project' | 'brief' | 'params' | 'feedback' | 'skipped' | 'phase' | 'step';

const SECTION = /^## \S/;
const BRIEF = /^## Brief\s*$/;
const PHASE_OUTPUT = /^## Upstream artifact: [\w-]+ \(version \d+\)$/;
const STEP_OUTPUT = /^## Context: output of step [\w-]+ \(/;
const CUT_NOTICE = /^\(\d+ more characters; /;
const MOST_PARAMS = 50;
const MOST_FEEDBACK = 5;

/** The order in which the sections stand. A heading that would go back is part of a text that somebody wrote. */
const RANKS: Record<Part, number> = { project: 0, brief: 1, params: 2, feedback: 3, skipped: 4, phase: 5, step: 6 };

/** @returns the section that a line begins, if the line is one of the product's own headings */
function sectionOf(line: string, following: string): Part | undefined {
  if (line === '## Parameters') return following.startsWith('- ') ? 'params' : undefined;
  if (line === '## Feedback on your earlier work') return following.startsWith('- ') ? 'feedback' : undefined;
  if (line === '## What went wrong the last time' || line === '## Your earlier output') return 'skipped';
  if (PHASE_OUTPUT.test(line)) return 'phase';
  return STEP_OUTPUT.test(line) ? 'step' : undefined;
}

const isEnd = (line: string, following: string): boolean =>
  line.startsWith('## Attachments (read them with ') ||
  (line === '## Output' && following.startsWith('Answer with one JSON value of this schema'));

/** Reads JSON or text. @returns undefined for JSON that was cut, of which nothing can be used */
function readMaterial(lines: readonly string[]): unknown {
  const text = lines.join('\n').trim();
  const lastLine = text.slice(text.lastIndexOf('\n') + 1);
  const isCut = CUT_NOTICE.test(lastLine);
  const whole = isCut ? text.slice(0, -lastLine.length).trim() : text;
  if (!/^[[{]/.test(whole)) return whole || undefined;
  try {
    return parseJson(whole);
  } catch {
    return isCut || whole.startsWith('{') ? undefined : whole;
  }
}

/** Reads `**Title**, phase "Phase", step "Step"`. */
function readProject(line: string): Pick<StepPrompt, 'title' | 'phaseTitle' | 'stepTitle'> {
  const phaseAt = line.lastIndexOf('**, phase "');
  const stepAt = line.lastIndexOf('", step "');
  if (!line.startsWith('**') || phaseAt < 0 || stepAt < phaseAt) return { title: '', phaseTitle: '', stepTitle: '' };
  return {
    title: line.slice(2, phaseAt),
    phaseTitle: line.slice(phaseAt + '**, phase "'.length, stepAt),
    stepTitle: line.slice(stepAt + '", step "'.length, -1),
  };
}

/** @returns undefined for a request that is no project's step */
export function readStepPrompt(request: string): StepPrompt | undefined {
  const lines = request.split('\n');
  const projectAt = lines.findIndex((line, at) => line === '## Project' && (lines[at + 2] ?? '').startsWith('**'));
  const briefAt = lines.findIndex((line, at) => at > projectAt && BRIEF.test(line));
  if (briefAt < 0) return undefined;

  const read: StepPrompt = {
    ...readProject(projectAt < 0 ? '' : (lines[projectAt + 2] ?? '')),
    brief: '',
    params: {},
    feedback: [],
    upstream: [],
  };
  let part: Part = 'brief';
  let body: string[] = [];
  const finish = () => {
    if (part === 'brief') read.brief = body.join('\n').trim();
    else if (part === 'params') read.params = readParams(body);
    else if (part === 'feedback') read.feedback = readList(body).slice(0, MOST_FEEDBACK);
    else if (part === 'phase' || part === 'step') {
      const value = readMaterial(body);
      if (value !== undefined) read.upstream.push({ from: part, value });
    }
    body = [];
  };
  for (let at = briefAt + 1; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (SECTION.test(line)) {
      const following = lines[at + 2] ?? '';
      if (isEnd(line, following)) break;
      const next = sectionOf(line, following);
      if (next !== undefined && RANKS[next] >= RANKS[part]) {
        finish();
        part = next;
        continue;
      }
    }
    body.push(line);
  }
  finish();
  read.upstream.reverse();
  return read;
}

const readList = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => (line.startsWith('- ') ? [line.slice(2).trim()] : [])).filter(Boolean);

function readParams(lines: readonly string[]): Record<string, string> {
  const pairs = readList(lines)
    .slice(0, MOST_PARAMS)
    .map((line): [string, string] => {
      const colon = line.indexOf(': ');
      return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 2)];
    });
  return Object.fromEntries(pairs);
}
