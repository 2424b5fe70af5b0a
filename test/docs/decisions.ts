/**
 * Numbers the paragraphs of `docs/decisions.md` and makes its index by topic. `npm run docs:decisions` writes both.
 * A new decision is appended as `**2026-11-24, runs: what was decided.** Why ...`; its number comes from here.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { itemAt, present } from '../../src/platform/core/present.ts';

const PAGE = fileURLToPath(new URL('../../docs/decisions.md', import.meta.url));

/** The topics that there are, in the order of the index. */
const TOPICS = {
  runs: 'Runs and models',
  projects: 'Projects',
  memory: 'Memory and skills',
  tools: 'Tools, integrations, MCP',
  schedules: 'Work by the clock',
  webhooks: 'Webhooks and output destinations',
  money: 'Cost, budgets, billing',
  access: 'Sign-in, keys, rights',
  workspaces: 'Workspaces',
  interface: 'Answers of the API, the command line, files',
  console: 'The console',
  network: 'What goes out, and what comes in from outside',
  temporal: 'Temporal and workflows',
  database: 'Postgres',
  deployment: 'Running it for others',
  code: 'Code and libraries',
  tests: 'Tests and proofs',
} as const;

const INTRODUCTION = `# Decisions

What was decided and why, so that whoever wants to change it knows what it held up. Newest last. Code and pages name a decision by
its number, which does not change. To add one, append \`**2026-11-24, runs: what was decided.** Why ...\` at the end of this page and
run \`npm run docs:decisions\`, which gives it its number and its line in the index. The topics are ${Object.keys(
  TOPICS,
)
  .map((topic) => `\`${topic}\``)
  .join(' ')}.
A decision that a later one replaces stays, and says which one that is. Back to [the README](../README.md).`;

interface Decision {
  date: string;
  topic: keyof typeof TOPICS;
  title: string;
  text: string;
}

export async function decisionsPage(): Promise<{ current: string; wanted: string }> {
  const current = await readFile(PAGE, 'utf8');
  return { current, wanted: numbered(current) };
}

/** @throws Error for a paragraph without date or known topic, one that is older than the one before it, a wrong number */
export function numbered(page: string): string {
  const decisions = paragraphs(page).map(read);
  decisions.forEach(({ date, title }, i) => {
    if (i > 0 && date < itemAt(decisions, i - 1).date)
      throw new Error(`"${title}" is older than what stands before it`);
  });
  const index = Object.entries(TOPICS).flatMap(([topic, heading]) => {
    const lines = decisions.flatMap((one, i) => (one.topic === topic ? [`- [${i + 1}](#d${i + 1}) ${one.title}`] : []));
    return lines.length === 0 ? [] : [`**${heading}**\n\n${lines.join('\n')}`];
  });
  const body = decisions.map(
    ({ date, topic, text }, i) => `<a id="d${i + 1}"></a>**${i + 1}. ${date}, ${topic}: ${text}`,
  );
  return `${[INTRODUCTION, '## By topic', ...index, '## All of them', ...body].join('\n\n')}\n`;
}

/** Whatever is neither introduction nor index, which are made anew. */
function paragraphs(page: string): string[] {
  const all = page.trimEnd().split(/\n{2,}/);
  const heading = all.indexOf('## All of them');
  return heading < 0 ? all.filter((text) => /^\*\*\d{4}-/.test(text)) : all.slice(heading + 1);
}

function read(paragraph: string, position: number): Decision {
  const found = /^(?:<a id="d\d+"><\/a>)?\*\*(?:(\d+)\. )?(\d{4}-\d\d-\d\d), (\w+): (([^*]+)\*\*[^]*)$/.exec(paragraph);
  const beginning = `"${paragraph.slice(0, 60)} ..."`;
  if (!found) throw new Error(`${beginning} does not begin like **2026-11-24, runs: what was decided.**`);
  const [, number, date, topic, text, title] = found as unknown as [string, string?, ...string[]];
  if (!(present(topic) in TOPICS)) throw new Error(`${beginning} has no topic of: ${Object.keys(TOPICS).join(', ')}`);
  if (number !== undefined && Number(number) !== position + 1) {
    throw new Error(`${beginning} is in place ${position + 1}: append new ones at the end, without a number`);
  }
  return {
    date: present(date),
    topic: topic as keyof typeof TOPICS,
    title: oneLine(present(title)),
    text: present(text),
  };
}

const oneLine = (title: string): string => title.replace(/\s+/g, ' ').replace(/[.:]$/, '');

if (import.meta.main) await writeFile(PAGE, (await decisionsPage()).wanted);
