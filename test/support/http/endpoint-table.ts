/** `docs/endpoints.md`, made of the declared endpoints and the tests there are. `npm run docs:endpoints` writes it. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { documents } from '../../../src/openapi.ts';
import { type Endpoint, handle } from '../../../src/platform/http/endpoint.ts';
import { filesThatTest, readTestFiles, type TestFile } from './endpoint-coverage.ts';
import { elsewhere } from './endpoints-elsewhere.ts';
import { endpoints } from './endpoints.ts';

const FILE = fileURLToPath(new URL('../../../docs/endpoints.md', import.meta.url));

const TITLES = {
  public: 'Public API\n\nAddress: `{base_url}` and the path.',
  'control-plane': 'Control plane\n\nAddress: `{base_url}/api/v1/cp` and the path, with the session cookie.',
} satisfies Record<Endpoint['surface'], string>;

export async function endpointTable(): Promise<{ current: string; wanted: string }> {
  const current = await readFile(FILE, 'utf8').catch(() => '');
  return { current, wanted: render(await readTestFiles(), await elsewhere()) };
}

function render(files: readonly TestFile[], others: Awaited<ReturnType<typeof elsewhere>>): string {
  const routes = endpoints.map((endpoint) => handle(endpoint, async () => {}));
  const { public: publicApi, controlPlane } = documents(routes, { PORT: 0 });
  const described = { public: publicApi(), 'control-plane': controlPlane() };

  const row = (endpoint: Endpoint): string => {
    const { surface, method, path, credential, summary } = endpoint;
    const operation = described[surface].paths?.[path]?.[method];
    const tests = linksTo(filesThatTest(endpoint, files));
    const cells = [
      `\`${method.toUpperCase()}\``,
      `\`${path}\``,
      credential,
      summary,
      Object.keys(operation?.responses ?? {}).join(' '),
      tests,
    ];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  };
  const section = (surface: Endpoint['surface']): string[] => [
    `## ${TITLES[surface]}`,
    '',
    '| Method | Path | Credential | Summary | Status codes | Tests |',
    '|---|---|---|---|---|---|',
    ...endpoints
      .filter((endpoint) => endpoint.surface === surface)
      .sort((a, b) => compare(a.path, b.path) || METHODS.indexOf(a.method) - METHODS.indexOf(b.method))
      .map(row),
    '',
  ];
  return [
    '# Endpoints',
    '',
    'Generated from the declarations and the tests by `npm run docs:endpoints`; do not edit. Every endpoint is also',
    'tested with every wrong credential and with the ids of another workspace (`test/security`).',
    '',
    ...section('public'),
    ...section('control-plane'),
    ...outside(others),
  ].join('\n');
}

const linksTo = (names: readonly string[]): string => names.map((name) => `[${name}](../test/${name})`).join('<br>');

const outside = (others: Awaited<ReturnType<typeof elsewhere>>): string[] => [
  '## Elsewhere on the gateway',
  '',
  'Pages, probes and protocols that are no part of either surface.',
  '',
  '| Address | Credential | What | Tests |',
  '|---|---|---|---|',
  ...others.map(
    ({ address, credential, what, tests }) => `| \`${address}\` | ${credential} | ${what} | ${linksTo(tests)} |`,
  ),
  '',
];

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
// Not by locale: the file is the same wherever it is made.
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

if (import.meta.main) await writeFile(FILE, (await endpointTable()).wanted);
