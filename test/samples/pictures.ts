/**
 * `npm run samples:pictures [-- workflow ...]` opens what each sample made in Chromium, on a desktop, a phone and paper,
 * and says what a person would trip over: sideways scrolling, texts cut off, weak contrast, pages that do not fit.
 *
 * The first screens go to `docs/images/samples/`, whole pages to `.cache/samples/`, to be looked at.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { present } from '../../src/platform/core/present.ts';
import { findAction } from '../../src/resources/actions/builtin/index.ts';
import { HtmlFile } from '../../src/resources/actions/builtin/rendering/file.ts';
import { launchBrowser } from '../support/programs/chromium.ts';
import { OVERFLOWS } from './in-page.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SHOTS = join(ROOT, 'docs/images/samples');
/** On the cards of the console's page *New project*. */
const CARDS = join(ROOT, 'console/src/features/samples/cards');
const WHOLE = join(ROOT, '.cache/samples');

const SCREENS = {
  desktop: { width: 1_280, height: 800 },
  phone: { width: 390, height: 844 },
} as const;
/** Made to be printed, with their paper in millimetres. */
const PAPER: Readonly<Record<string, { width: number; height: number }>> = {
  'childrens-book': { width: 297, height: 210 },
  worksheet: { width: 210, height: 297 },
  'digital-planner': { width: 297, height: 210 },
};

/** The file that a person opens first: the page, else a sheet, else a text. */
async function firstFile(workflow: string): Promise<string> {
  const folder = join(ROOT, 'samples/workflows', workflow, 'result');
  const files = await readdir(folder);
  const found = ['.html', '.svg', '.md', '.json'].flatMap((end) => files.filter((file) => file.endsWith(end)));
  if (!found[0]) throw new Error(`${workflow} has no result: node test/samples/make.ts ${workflow}`);
  return join(folder, found[0]);
}

const overflows = (page: Page): Promise<string[]> => page.evaluate(OVERFLOWS);

/** @returns the file itself, a Markdown text as the page that the product makes of it, or a page around a drawing */
async function asPage(file: string): Promise<string> {
  if (file.endsWith('.svg')) return writePage(`${SVG_PAGE}${await readFile(file, 'utf8')}`);
  if (!file.endsWith('.md')) return file;
  const rendered = await present(findAction('render_html_page')).run({
    project: { id: 'sample-000000', title: 'Sample', brief: '', params: {} },
    inputs: { text: await readFile(file, 'utf8') },
    artifacts: {},
    instructions: null,
    signal: new AbortController().signal,
    fetch: () => Promise.reject(new Error('no network here')),
  });
  return writePage(HtmlFile.parse(rendered).content);
}

/** Chromium takes no picture of a whole SVG document, and a person would see it cut off on a phone. */
const SVG_PAGE = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Sheet</title>
<style>body{margin:0;display:grid;justify-items:center;background:#e9e6df}svg{display:block;max-width:100%;height:auto}</style>`;

async function writePage(html: string): Promise<string> {
  const path = join(WHOLE, 'page.html');
  await writeFile(path, html);
  return path;
}

async function look(browser: Browser, workflow: string): Promise<string[]> {
  const faults: string[] = [];
  const file = await firstFile(workflow);
  for (const [name, viewport] of Object.entries(SCREENS)) {
    // Animations are looked at as they are for those who asked for less motion, except in the picture of the whole.
    const context = await browser.newContext({ viewport, colorScheme: 'light' });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(`file://${await asPage(file)}`);
    await page.waitForTimeout(300);
    faults.push(...errors.map((error) => `${name}: ${error}`));
    faults.push(...(await overflows(page)).map((fault) => `${name}: ${fault}`));
    if (!file.endsWith('.svg')) {
      const { violations } = await new AxeBuilder({ page }).analyze();
      for (const { id, nodes } of violations)
        faults.push(
          `${name}: ${id}: ${nodes
            .slice(0, 3)
            .map(({ html }) => html.slice(0, 120))
            .join(' | ')}`,
        );
    }
    const screen = await page.screenshot();
    await sharp(screen)
      .webp({ quality: 80 })
      .toFile(join(SHOTS, `${workflow}-${name}.webp`));
    if (name === 'desktop')
      await sharp(screen)
        .resize(640, 400)
        .webp({ quality: 75 })
        .toFile(join(CARDS, `${workflow}.webp`));
    await page.screenshot({ path: join(WHOLE, `${workflow}-${name}-whole.png`), fullPage: true });
    const paper = PAPER[workflow];
    if (paper && name === 'desktop') faults.push(...(await printed(page, workflow, paper)));
    await context.close();
  }
  return faults;
}

const MM = 96 / 25.4;

/** Lays the page out as its paper is, and says what would be cut by the edge or torn between two pages. */
async function printed(page: Page, workflow: string, { width, height }: { width: number; height: number }) {
  await page.emulateMedia({ media: 'print' });
  // The margin that browsers and the style sheets leave on each side.
  const inner = Math.floor((width - 20) * MM);
  await page.setViewportSize({ width: inner, height: Math.floor((height - 20) * MM) });
  const faults = (await overflows(page)).map((fault) => `paper: ${fault}`);
  const pdf = await page.pdf({ path: join(WHOLE, `${workflow}.pdf`), preferCSSPageSize: true, printBackground: true });
  const pages = [...pdf.toString('latin1').matchAll(/\/Type\s*\/Page\b/g)].length;
  // A book or planner has one sheet for each leaf; one more means that a leaf was torn.
  const leaves = await page.locator('.leaf').count();
  if (leaves > 0 && pages !== leaves) faults.push(`paper: ${leaves} leaves print on ${pages} pages`);
  console.log(`  ${workflow} prints on ${pages} pages: .cache/samples/${workflow}.pdf`);
  await page.emulateMedia({ media: 'screen' });
  return faults;
}

await mkdir(SHOTS, { recursive: true });
await mkdir(WHOLE, { recursive: true });
await mkdir(CARDS, { recursive: true });
const all = (await readdir(join(ROOT, 'samples/workflows'))).sort();
const wanted = process.argv.slice(2);
const browser = await launchBrowser();
let faulty = 0;
for (const workflow of all) {
  if (wanted.length > 0 && !wanted.includes(workflow)) continue;
  const faults = await look(browser, workflow);
  faulty += faults.length;
  console.log(`${workflow}: ${faults.length === 0 ? 'looks right' : ''}`);
  for (const fault of faults) console.log(`  FAULT ${fault}`);
}
await browser.close();
process.exitCode = faulty === 0 ? 0 : 1;
