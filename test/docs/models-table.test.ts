/** The table of docs/operate/models.md has a cell for each test of a provider's capability, and no other. */
import { expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { marked, type Tokens } from 'marked';
import { present } from '../../src/platform/core/present.ts';
import { described } from '../../src/platform/models/catalogue.ts';
import { readCatalogue } from '../../src/platform/models/known-models.ts';
import { CELLS } from '../support/model-wires/capabilities/all.ts';

const PAGE = readFileSync(new URL('../../docs/operate/models.md', import.meta.url), 'utf8');

/** @returns the words of each cell, by the name of its test */
function cellsOf(page: string): Map<string, string> {
  const [, part] = /<!-- capabilities -->([^]*)<!-- \/capabilities -->/.exec(page) ?? [];
  const table = marked.lexer(present(part)).find((token): token is Tokens.Table => token.type === 'table');
  const { header, rows } = present(table);
  const names = header.slice(1).map(({ text }) => text);
  return new Map(
    rows.flatMap(([provider, ...cells]) =>
      cells.map(({ text }, at) => [`${present(provider).text}: ${names[at]}`, text] as const),
    ),
  );
}

/** One line for each cell without a test, each test without a cell, and each cell with other words than its test. */
function differences(page: string): string[] {
  const cells = cellsOf(page);
  const tests = new Map(CELLS.map(({ name, wire, capability }) => [name, wire.cases[capability].cell]));
  return [...new Set([...cells.keys(), ...tests.keys()])].flatMap((name) => {
    const [cell, said] = [cells.get(name), tests.get(name)];
    if (said === undefined) return `${name}: the page has a cell, and no test`;
    if (cell === undefined) return `${name}: there is a test, and no cell`;
    return cell === said ? [] : `${name}: the page says "${cell}", its test "${said}"`;
  });
}

test('each cell is a test', () => {
  expect(CELLS.length).toBeGreaterThan(0);
  expect(differences(PAGE)).toEqual([]);
});

// Guards against: a check that finds nothing, whatever the page says.
test.each<[string, (page: string) => string, string]>([
  ['a cell without a test', (page) => page.replace('| errors |', '| magic |'), 'Anthropic: magic: the page has a cell'],
  [
    'a test without a cell',
    (page) => page.replace(/^\| Mistral .*\n/m, ''),
    'Mistral: stream: there is a test, and no cell',
  ],
  ['other words', (page) => page.replace('| marked ', '| no '), 'Anthropic: prompt cache: the page says "no"'],
])('%s is told with its name', (_, changed, told) => {
  const table = /<!-- capabilities -->[^]*<!-- \/capabilities -->/.exec(PAGE)?.[0] ?? '';
  expect(differences(changed(table)).join('\n')).toContain(told);
});

test('its catalogue is one', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'page-')), 'models.yaml');
  writeFileSync(path, present(/^```yaml\n([^`]+)```$/m.exec(PAGE)?.[1]));
  const catalogue = readCatalogue({ MODEL_CATALOGUE: path });
  expect(described('azure/our-gpt', 'azure-openai', catalogue)).toMatchObject({ sees: true, maxOutput: 128_000 });
});
