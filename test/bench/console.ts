/**
 * `npm run bench:console`: what the console weighs, and how quick it is in a real browser, with 10,000 runs in its workspace:
 * bytes of the first load and of each page; largest paint, shifts and the slowest answer to a key or click; from the request
 * for a run, and from its commit, to its row on the screen; frames a second while a timeline of 10,000 events scrolls; what
 * 100 tabs that follow the stream cost the service; Lighthouse's scores of five pages. The load of the machine stands beside
 * each figure. `--only vitals,screen` measures these alone.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Page as Tab } from 'playwright-core';
import pg from 'pg';
import { first, itemAt } from '../../src/platform/core/present.ts';
import { deploy } from '../support/processes/deployment.ts';
import { launchBrowser } from '../support/programs/chromium.ts';
import { fillArchive } from './fill-archive.ts';
import { CATEGORIES, lighthouse } from './lighthouse.ts';
import { cpuOf } from './processes.ts';
import { machine, percentile } from './report.ts';

const { values: options } = parseArgs({
  options: {
    /** Of the workspace that is looked at. */
    runs: { type: 'string', default: '10000' },
    events: { type: 'string', default: '10000' },
    /** That follow the stream. */
    tabs: { type: 'string', default: '100' },
    /** Of these alone, with commas between. */
    only: { type: 'string', default: 'weight,vitals,screen,scroll,tabs,lighthouse' },
  },
});
const SAMPLES = 40;
const LOOKED_AT_MS = 30_000;
/** A project of the offline model has come to its gate by then. */
const SETTLED_MS = 10_000;

const rows: [measure: string, figure: string, load: string][] = [];
const note = (measure: string, figure: string) => void rows.push([measure, figure, first(loadavg()).toFixed(1)]);
const isAsked = (part: string) => options.only.split(',').includes(part);

/** With what a page needs before it runs, by the manifest of the build. */
function weigh() {
  const built = fileURLToPath(new URL('../../.cache/console/', import.meta.url));
  type Chunk = { file: string; imports?: string[]; css?: string[] };
  const manifest = JSON.parse(readFileSync(`${built}manifest.json`, 'utf8')) as Record<string, Chunk>;
  const needed = (name: string, found = new Set<string>()): Set<string> => {
    const { file, imports = [], css = [] } = manifest[name]!;
    if (found.has(file)) return found;
    for (const each of [file, ...css]) found.add(each);
    for (const each of imports) needed(each, found);
    return found;
  };
  const weight = (files: Iterable<string>) =>
    [...files].reduce((sum, file) => sum + statSync(`${built}${file}.gz`).size, 0) / 1_000;
  const frame = needed('index.html');
  note(
    'First load, its page included',
    `${weight(new Set([...frame, ...needed('src/routes/runs.tsx')])).toFixed(1)} kB gzip`,
  );
  for (const route of readdirSync(fileURLToPath(new URL('../../console/src/routes', import.meta.url)))) {
    const more = [...needed(`src/routes/${route}`)].filter((file) => !frame.has(file));
    note(`Page ${route.replace('.tsx', '')}`, `${weight(more).toFixed(1)} kB gzip`);
  }
}
if (isAsked('weight')) weigh();

const deployment = await deploy({ apis: 1, workers: 1 });
const client = new pg.Client({ connectionString: deployment.databaseUrl });
await client.connect();
// Half of an archive is the workspace's.
await fillArchive(client, { from: 0, to: 2 * Number(options.runs) });
const baseUrl = deployment.replicas.find(({ part }) => part === 'api')!.url!;
const browser = await launchBrowser();

async function open(path: string): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
  await context.addCookies([{ name: 'service_session', value: deployment.session, url: baseUrl }]);
  const tab = await context.newPage();
  await tab.addInitScript(`
    globalThis.vitals = { lcp: 0, cls: 0, inp: 0, moved: [] };
    const watch = (type, each, more = {}) =>
      new PerformanceObserver((list) => list.getEntries().forEach(each)).observe({ type, buffered: true, ...more });
    watch('largest-contentful-paint', ({ startTime }) => { vitals.lcp = startTime; });
    watch('layout-shift', ({ value, hadRecentInput, sources }) => {
      if (hadRecentInput) return;
      vitals.cls += value;
      vitals.moved.push([value.toFixed(4), ...sources.map(({ node, previousRect: was, currentRect: is }) =>
        [node?.outerHTML?.slice(0, 120), was.x, was.y, was.width, was.height, 'to', is.x, is.y, is.width, is.height].join(' '))].join(', '));
    });
    watch('event', ({ duration, interactionId }) => { if (interactionId) vitals.inp = Math.max(vitals.inp, duration); }, { durationThreshold: 16 });
  `);
  await tab.goto(`${baseUrl}/console${path}`);
  return tab;
}
const firstRow = (tab: Tab) => tab.getByRole('list', { name: 'Runs' }).getByRole('link').first();

// What is seen first, and how it answers.
if (isAsked('vitals')) {
  const tab = await open('/runs');
  await firstRow(tab).waitFor();
  for (const key of ['j', 'j', 'k', 'j']) await tab.keyboard.press(key);
  await tab.getByLabel('Search runs by id or text').pressSequentially('chapter 77');
  await pause(1_000);
  const { lcp, cls, inp, moved } = await tab.evaluate<{ lcp: number; cls: number; inp: number; moved: string[] }>(
    'vitals',
  );
  for (const shift of moved) process.stderr.write(`moved: ${shift}\n`);
  note('Largest paint of the list of runs', `${Math.round(lcp)} ms`);
  note('Shifts of the list of runs', cls.toFixed(4));
  note('Slowest answer to a key (keys, and a search as it is typed)', `${inp} ms`);
  await tab.context().close();
}

// From the request for a run, and from its commit, to its row.
if (isAsked('screen')) {
  const tab = await open('/runs');
  await firstRow(tab).waitFor();
  await tab.getByText('Not live').waitFor({ state: 'detached' });
  const took: number[] = [];
  const seenAt: number[] = [];
  for (let i = 0; i < SAMPLES; i++) {
    // Whether it is there is asked at each frame; the page's policy lets no other code of ours run in it.
    const seen = tab.getByText(`This is sample ${i}.`).first().waitFor();
    const at = performance.now();
    await deployment.api('POST', '/v1/runs', { agent: 'assistant', prompt: `This is sample ${i}.` });
    await seen;
    took.push(performance.now() - at);
    seenAt.push(Date.now());
  }
  // A row is as old as its transaction, which began a little before it was committed.
  const { rows: made } = await client.query<{ at: Date }>(
    `select created_at as at from runs where prompt like 'This is sample %' order by seq`,
  );
  const since = seenAt.map((seen, i) => seen - itemAt(made, i).at.getTime());
  note(
    `From the commit of a run to its row on the screen, ${SAMPLES} runs, p50, p95`,
    `${Math.round(percentile(since, 50))} ms, ${Math.round(percentile(since, 95))} ms`,
  );
  note(
    `From a request to its row on the screen, ${SAMPLES} runs, p50, p95`,
    `${Math.round(percentile(took, 50))} ms, ${Math.round(percentile(took, 95))} ms`,
  );
  await tab.context().close();
}

// A long timeline.
if (isAsked('scroll')) {
  const { rows: found } = await client.query<{ id: string; customer_id: string }>(
    `select id, customer_id from runs where customer_id = 'internal' and status = 'succeeded' order by seq limit 1`,
  );
  const run = found[0]!;
  await client.query(
    `insert into run_events (run_id, customer_id, key, ts, event_type, duration_ms, cost_usd, status, payload)
     select $1, $2, 'bench ' || n, now() + n * interval '10 ms', 'tool_call', 5, null, 'ok', jsonb_build_object('tool', 'calculator', 'call_id', 'c' || n)
     from generate_series(1, $3::int) n`,
    [run.id, run.customer_id, Number(options.events)],
  );
  const tab = await open(`/runs/${run.id}?tab=timeline`);
  await tab.locator('[data-row]').first().waitFor();
  await pause(2_000);
  const frames = await tab.evaluate<number>(`new Promise((resolve) => {
    const all = [...document.querySelectorAll('*')].filter((each) => each.scrollHeight > each.clientHeight + 1000 && getComputedStyle(each).overflowY !== 'visible');
    const list = all.sort((a, b) => b.scrollHeight - a.scrollHeight)[0];
    const begun = performance.now();
    let count = 0;
    const step = () => {
      list.scrollTop += 120;
      count++;
      if (performance.now() - begun < 3000) requestAnimationFrame(step);
      else resolve(count / ((performance.now() - begun) / 1000));
    };
    requestAnimationFrame(step);
  })`);
  note(`Frames a second while a timeline of ${options.events} events scrolls`, frames.toFixed(1));
  await tab.context().close();
}
await browser.close();

// Lighthouse starts a browser of its own.
if (isAsked('lighthouse')) {
  const { body: project } = await deployment.api('POST', '/v1/projects', {
    workflow_slug: 'blog-post',
    brief: 'Why small teams should write their decisions down',
  });
  const { rows: one } = await client.query<{ id: string }>(
    `select id from runs where customer_id = 'internal' and status = 'succeeded' order by seq desc limit 1`,
  );
  await pause(SETTLED_MS);
  const pages = {
    runs: '/runs',
    run: `/runs/${first(one).id}`,
    project: `/projects/${project.id ?? project.project_id}`,
    inbox: '/inbox',
    costs: '/costs',
  };
  for (const [name, path] of Object.entries(pages)) {
    const { scores, faults } = await lighthouse(`${baseUrl}/console${path}`, deployment.session);
    note(`Lighthouse of ${name}: ${CATEGORIES.join(', ')}`, scores.join(', '));
    for (const fault of faults) process.stderr.write(`${name}: ${fault}\n`);
  }
}

// Tabs that follow: each is a stream of its own here, as of as many browsers.
if (isAsked('tabs')) {
  const stopping = new AbortController();
  const streams = Array.from({ length: Number(options.tabs) }, () =>
    fetch(`${baseUrl}/api/v1/cp/v1/live`, {
      headers: { cookie: `service_session=${deployment.session}`, accept: 'text/event-stream' },
      signal: stopping.signal,
    }),
  );
  const answers = await Promise.all(streams);
  const had = answers.filter(({ ok }) => ok).length;
  const pids = deployment.pids().service;
  const before = cpuOf(pids).total;
  await pause(LOOKED_AT_MS);
  const usedMs = cpuOf(pids).total - before;
  note(
    `CPU of the service with ${had} streams and nothing happening`,
    `${((100 * usedMs) / LOOKED_AT_MS).toFixed(1)} % of a core`,
  );
  stopping.abort();
}

process.stdout.write(
  `${Object.values(machine()).join(', ')}\n\n| Measure | Figure | Load |\n|---|---|---|\n${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`,
);
await client.end();
await deployment.close();
