/**
 * Scores of pages by Lighthouse, which is 110 MB and hence no dependency: it is installed into the project's cache when it is
 * first asked for, in the version that stands here.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromiumPath } from '../support/programs/chromium.ts';
import { inCache, makeOnce } from '../support/programs/make-once.ts';

const VERSION = '12.2.3';
export const CATEGORIES = ['performance', 'accessibility', 'best-practices'] as const;

interface Scores {
  /** In the order of the categories, from 0 to 100. */
  scores: number[];
  /** What kept a score below 100, with the category that it counts for. */
  faults: string[];
}

interface Report {
  finalDisplayedUrl: string;
  runtimeError?: { message: string };
  audits: Record<string, { title: string; score: number | null; displayValue?: string }>;
  categories: Record<string, { score: number; auditRefs: { id: string; weight: number }[] }>;
}

const run = promisify(execFile);

async function installed(): Promise<string> {
  const folder = inCache(`lighthouse-${VERSION}`);
  await makeOnce(folder, async (unfinished) => {
    await mkdir(unfinished);
    // Without one of its own npm would install into the package of the product.
    await writeFile(join(unfinished, 'package.json'), '{"private":true}\n');
    const args = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', `lighthouse@${VERSION}`];
    await run('npm', args, { cwd: unfinished });
  });
  return join(folder, 'node_modules', 'lighthouse', 'cli', 'index.js');
}

/** @param session of who is signed in; its cookie goes with each request */
export async function lighthouse(url: string, session: string): Promise<Scores> {
  const program = await installed();
  const folder = await mkdtemp(join(tmpdir(), 'lighthouse-'));
  try {
    const file = join(folder, 'report.json');
    // A command line is shown to everybody on the machine, and in the error of a command that fails.
    const headers = join(folder, 'headers.json');
    await writeFile(headers, JSON.stringify({ Cookie: `service_session=${session}` }));
    const args = [
      program,
      url,
      '--quiet',
      '--preset=desktop',
      '--output=json',
      `--output-path=${file}`,
      `--only-categories=${CATEGORIES.join(',')}`,
      `--extra-headers=${headers}`,
      '--chrome-flags=--headless=new --no-sandbox',
    ];
    await run(process.execPath, args, { env: { ...process.env, CHROME_PATH: await chromiumPath() } });
    const report: Report = JSON.parse(await readFile(file, 'utf8'));
    // The page of sign-in is a quick one too.
    if (report.finalDisplayedUrl !== url)
      throw new Error(`looked at ${report.finalDisplayedUrl} in the place of ${url}`);
    return scoresIn(report);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function scoresIn({ runtimeError, audits, categories }: Report): Scores {
  if (runtimeError) throw new Error(runtimeError.message);
  const scores = CATEGORIES.map((name) => Math.round(100 * (categories[name]?.score ?? NaN)));
  const faults = CATEGORIES.flatMap((name) =>
    (categories[name]?.auditRefs ?? [])
      .filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 0.9)
      .map(({ id }) => `${name}: ${audits[id]?.title} ${audits[id]?.displayValue ?? ''}`.trim()),
  );
  return { scores, faults };
}
