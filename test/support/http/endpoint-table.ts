/** `docs/endpoints.md`, made of the declared endpoints, by resource. `npm run docs:endpoints` writes it. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { first, itemAt, present } from '../../../src/platform/core/present.ts';
import type { Endpoint } from '../../../src/platform/http/endpoint.ts';
import { elsewhere } from './endpoints-elsewhere.ts';
import { endpoints } from './endpoints.ts';

const FILE = fileURLToPath(new URL('../../../docs/endpoints.md', import.meta.url));

/** What a caller shows, in the order of how many have it. */
const CREDENTIALS = {
  'api-key': '`Authorization: Bearer svc_pk_...`, an API key of the workspace',
  session: 'the cookie `service_session`, which sign-in sets',
  identity: 'the session, or `Authorization: Bearer` with an access token of the identity provider',
  admin: 'the session of an owner or admin',
  internal: 'a session of the workspace that operates the service',
  operator: '`X-Operator-Token`, which the operator has set (`OPERATOR_TOKEN`)',
  provider: 'the signature of the provider that sends it',
} satisfies Record<Endpoint['credential'], string>;

const INTRODUCTION = `# Endpoints

Every method and path, by resource. Parameters, bodies, replies and errors are on the reference page of a running service (\`/docs\` and
\`/docs/control-plane\`) and in its OpenAPI documents (\`/openapi/public.json\`, \`/openapi/control-plane.json\`), of which
\`openapi-python-client\` and \`@hey-api/openapi-ts\` generate clients. Made from the declarations by
\`npm run docs:endpoints\`; do not edit. [Add an endpoint](how-to/add-an-endpoint.md); back to [the README](../README.md).

| Credential | What the caller shows |
|---|---|
${Object.entries(CREDENTIALS)
  .map(([name, what]) => `| ${name} | ${what} |`)
  .join('\n')}`;

export async function endpointTable(): Promise<{ current: string; wanted: string }> {
  const current = await readFile(FILE, 'utf8').catch(() => '');
  return { current, wanted: render(await elsewhere()) };
}

function render(others: Awaited<ReturnType<typeof elsewhere>>): string {
  const of = (surface: Endpoint['surface']) => endpoints.filter((endpoint) => endpoint.surface === surface);
  const resources = Map.groupBy(of('control-plane'), ({ path }) => itemAt(path.split('/'), 2));
  return (
    [
      INTRODUCTION,
      '## Public API',
      'For programs. Address: `{base_url}` and the path.',
      tableOf(of('public')),
      '## Control plane',
      'For people, and for what they change. Address: `{base_url}/api/v1/cp` and the path.',
      ...[...resources]
        .sort(([a], [b]) => compare(a, b))
        .flatMap(([name, rows]) => [`### ${titleOf(name)}`, tableOf(rows)]),
      '## Elsewhere on the gateway',
      'Pages, probes and protocols that are no part of either surface.',
      table(others.map(({ address, what, credential }) => [...address.split(' '), what, credential])),
    ].join('\n\n') + '\n'
  );
}

const tableOf = (rows: readonly Endpoint[]): string =>
  table(
    [...rows]
      .sort((a, b) => compare(a.path, b.path) || METHODS.indexOf(a.method) - METHODS.indexOf(b.method))
      .map(({ method, path, summary, credential, deprecated }) => [
        method.toUpperCase(),
        path,
        deprecated ? `${summary} (deprecated)` : summary,
        credential,
      ]),
  );

const table = (rows: readonly string[][]): string =>
  [
    '| Method | Path | What it does | Credential |',
    '|---|---|---|---|',
    ...rows.map(([method, path, what, credential]) =>
      [`| ${method}`, `\`${path}\``, present(what).replaceAll('|', '\\|'), `${credential} |`].join(' | '),
    ),
  ].join('\n');

/** `audit-log`: Audit log. */
const titleOf = (name: string): string =>
  (first(name).toUpperCase() + name.slice(1).replaceAll('-', ' ')).replace(/^(?:Api|Crm) /, (word) =>
    word.toUpperCase(),
  );

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
// Not by locale: the file is the same wherever it is made.
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

if (import.meta.main) await writeFile(FILE, (await endpointTable()).wanted);
