/**
 * What a schema makes of a text is what is stored: an address in lower case, a name without spaces around it. Every place of
 * every body is tried, so an endpoint is in by being declared; each text is one that the schema of its place changes.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { present } from '../../../src/platform/core/present.ts';
import type { Endpoint } from '../../../src/platform/http/endpoint.ts';
import { CONFIGS } from '../../../src/resources/output-destinations/contract.ts';
import { WorkflowSpec } from '../../../src/resources/templates/contract.ts';
import { GATE_CONFIGS } from '../../../src/resources/templates/gates/contract.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { makeBelongings, NOBODYS, workflowOf, type Belongings } from '../../support/fixtures/belongings.ts';
import { byId, endpoints } from '../../support/http/endpoints.ts';
import { EXAMPLES } from '../../support/http/examples.ts';
import { sendConfirmed } from '../../support/http/send.ts';
import { lastDeletes, placesIn, type JsonSchema, type Place } from '../../support/security/hostile-requests.ts';
import { standInForEmbeddings } from '../../support/service/embeddings.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

const SET_UP_MS = 300_000;

let service: TestService;
let receiver: WebhookReceiver;
let tenant: Tenant;
let belongings: Belongings;
let tables: string[];

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  service = await startTestService({ env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort } });
  tenant = await service.tenant('acc_read', 'scale');
  belongings = await makeBelongings(service, tenant, receiver, 'read');
  standInForEmbeddings(service);
  const rows = await service.runtime.db.rows<{ name: string }>(sql`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`);
  tables = rows.map(({ name }) => name);
}, SET_UP_MS);
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

/** Says what stands in a place that the schema of a body leaves open. The inner one comes after the outer one. */
type Deeper = readonly [at: string, schema: z.ZodType][];
const GATE = 'phases.1.steps.0.gate_config';
const spec: Deeper = [
  ['spec', WorkflowSpec],
  [`spec.${GATE}`, GATE_CONFIGS.human],
];
const DEEPER: Readonly<Record<string, Deeper>> = {
  'templates.create': spec,
  'templates.update': spec,
  'templates-alias.create': spec,
  'templates-alias.update': spec,
  'output-destinations.update': [['config', CONFIGS.email.partial()]],
  'manifests.apply': [
    ['manifests.0.content', WorkflowSpec.omit({ version: true })],
    [`manifests.0.content.${GATE}`, GATE_CONFIGS.human],
  ],
};
/** Open places whose content is the caller's own, or read each time that it is used. */
const AS_IT_COMES = [
  'workspaces.create.config',
  'workspaces.setState',
  'projects.start.params',
  'projects.create.params',
  'memory.create.meta',
  'memory.update.meta',
  // The kind of a tool parses its body before each call.
  'tools.create.body',
  'tools.update.body',
  // Any value of JSON.
  'inbox.answer.data',
  'projects.resolveEditPlan.revised_plan.actions.0.content',
  // A plan stores nothing.
  'manifests.plan.manifests.0.content',
];

const gated = (of: Belongings) => {
  const made = workflowOf(of.agentSlug, 'another', 'another');
  const [
    draft,
    {
      steps: [gate],
      ...check
    },
  ] = made.phases as [unknown, { steps: object[] }];
  const approvers = { members: ['a@members.example'], emails: ['b@members.example'] };
  const config = { approvers, due_in_s: 60, escalate_to: approvers };
  return { ...made, phases: [draft, { ...check, steps: [{ ...gate, gate_config: config }] }] };
};
/** A JSON Schema is kept as it is. */
const SCHEMAS = /\.(?:schema|json_schema|output_schema|spec\.params|content\.params)$/;

/** These name something that is there, or ask for a state that the example is not in: nothing is stored at all. */
const REFUSED = [
  'projects.start workflow_slug',
  'projects.create workflow_slug',
  'inbox.delegate to',
  'crm-admin.createNote text',
  'projects.revertArtifact reason',
];
/** Nobody can look for what is stored here. */
const SEALED = ['integrations.setCredential value', 'integrations.setSecret value'];
/** These work once on the same thing. */
const ONCE = ['inbox.answer', 'memory.supersede'];

/** Says more than the example, which is as short as it can be. */
const FULL: Readonly<Record<string, (of: Belongings) => unknown>> = {
  'templates.create': (of) => ({ spec: gated(of) }),
  'templates.update': (of) => ({ spec: { ...gated(of), slug: of.templateSlug } }),
  'templates-alias.create': (of) => ({ spec: gated(of) }),
  'templates-alias.update': (of) => ({ spec: { ...gated(of), slug: of.templateSlug } }),
  'manifests.apply': (of) => {
    const { version: _version, ...content } = gated(of);
    return { manifests: [{ kind: 'workflow', content }] };
  },
};

/** The texts of one number are found nowhere else. */
const textsOf = (nth: number): string[] => [
  ` Mixed-${nth}@Members.Example `,
  `Mixed-${nth}@Members.Example`,
  `  Mixed ${nth}  `,
  ` mixed-${nth} `,
  `000${nth}.50`,
];
let nth = 73_000;

const placeOf = (path: string): Place => path.split('.');
const within = (value: unknown, [step, ...deeper]: Place): unknown =>
  step === undefined ? value : within(Reflect.get(Object(value), step), deeper);

/** The value with another one at this place; what is missing on the way is made. */
function withAt(value: unknown, [step, ...deeper]: Place, put: unknown): unknown {
  if (step === undefined) return put;
  if (step !== '0' && !Array.isArray(value))
    return { ...Object(value), [step]: withAt(within(value, [step]), deeper, put) };
  const list: unknown[] = Array.isArray(value) ? [...value] : [];
  list[Number(step)] = withAt(list[Number(step)], deeper, put);
  return list;
}

/** @returns what the schemas make of a body; undefined if one refuses it */
function readBy({ id, body }: Endpoint, given: unknown): unknown {
  let read = present(body).safeParse(given);
  for (const [at, schema] of DEEPER[id] ?? []) {
    if (!read.success) return undefined;
    const place = placeOf(at);
    if (within(read.data, place) === undefined) continue;
    const inner = schema.safeParse(within(read.data, place));
    if (!inner.success) return undefined;
    read = { success: true, data: withAt(read.data, place, inner.data) };
  }
  return read.data;
}

/** Every place of a body, those of its open places included. */
const allPlaces = ({ id, body }: Endpoint): Place[] => [
  ...placesIn(present(body)).map(({ place }) => place),
  ...(DEEPER[id] ?? []).flatMap(([at, schema]) =>
    placesIn(schema).map(({ place }) => [...placeOf(at), ...place].map((step) => (step === 'any' ? 'k' : step))),
  ),
];

interface Case {
  place: Place;
  body: unknown;
  sent: string;
  read: string;
}

/** @returns a request for each place at which the schema changes a text */
function casesOf(endpoint: Endpoint, right: unknown): Case[] {
  const tried = new Set<string>();
  return allPlaces(endpoint).flatMap((place): Case[] => {
    if (tried.has(place.join('.'))) return [];
    tried.add(place.join('.'));
    nth += 1;
    const named: unknown = JSON.parse(JSON.stringify(right).replaceAll('another', `another-${nth}`));
    for (const sent of textsOf(nth)) {
      const body = withAt(named, place, sent);
      const read = within(readBy(endpoint, body), place);
      if (typeof read === 'string' && read !== sent) return [{ place, body, sent, read }];
    }
    return [];
  });
}

/** @returns the tables with a row that contains the text as it is */
async function tablesWith(text: string): Promise<string[]> {
  const each = tables.map(
    (name) => sql`select ${name}::text as name where exists (
      select from ${sql.identifier(name)} x where strpos(x::text, ${text}) > 0)`,
  );
  const rows = await service.runtime.db.rows<{ name: string }>(sql.join(each, sql` union all `));
  return rows.map(({ name }) => name);
}

const bodied = lastDeletes(endpoints).filter(
  ({ body, method, rawBody, upload, uploads }) => body && method !== 'get' && !rawBody && !upload && !uploads,
);
const rightBody = async (id: string, of: Belongings): Promise<unknown> =>
  FULL[id]?.(of) ?? (await EXAMPLES[id]?.(of))?.body ?? {};

describe.each(byId(bodied))('%s', (id, endpoint) => {
  // Guards against: an approver typed with a capital letter, who could never answer. The schema had made it lower case, and what
  // had been sent was stored.
  test(
    'stores what its schema makes of a text',
    async () => {
      const isOnce = ONCE.includes(id);
      const cases = casesOf(endpoint, await rightBody(id, belongings));
      for (const [at, { place, ...of }] of cases.entries()) {
        const owner = isOnce ? await service.tenant(`acc_read_${nth}_${at}`, 'scale') : tenant;
        const own = isOnce ? await makeBelongings(service, owner, receiver, `read-${nth}`) : belongings;
        const { body, sent, read } = isOnce ? present(casesOf(endpoint, await rightBody(id, own))[at]) : of;
        const answer = await sendConfirmed(service, owner, endpoint, { ...(await EXAMPLES[id]?.(own)), body });
        const name = `${id} ${place.join('.')}`;
        const said = { name, isRefused: answer.status >= 300, raw: await tablesWith(sent) };
        expect(said).toEqual({ name, isRefused: REFUSED.includes(name), raw: [] });
        if (!REFUSED.includes(name) && !SEALED.includes(name))
          expect([name, await tablesWith(read)]).not.toEqual([name, []]);
      }
    },
    SET_UP_MS,
  );
});

// Guards: the places are found, those of lists and of open fields too.
test('tries what schemas are known to change', async () => {
  const tried: string[] = [];
  for (const endpoint of bodied) {
    const cases = casesOf(endpoint, await rightBody(endpoint.id, NOBODYS));
    tried.push(...cases.map(({ place }) => `${endpoint.id} ${place.join('.')}`));
  }
  expect(tried).toEqual(
    expect.arrayContaining([
      'api-keys.create name',
      'memory.create scope',
      'skills.update agents.0',
      'templates.create spec.phases.0.cost_budget_usd',
      `templates.update spec.${GATE}.approvers.members.0`,
      `manifests.apply manifests.0.content.${GATE}.escalate_to.emails.0`,
      ...REFUSED,
      ...SEALED,
    ]),
  );
});

// Guards: a place that takes anything is read by a schema of its own, which this test has to know.
test('knows what stands in open places', () => {
  const isOpen = ({ description: _said, ...schema }: JsonSchema & { description?: string }): boolean =>
    Object.keys(schema).length === 0 ||
    (typeof schema.additionalProperties === 'object' && Object.keys(schema.additionalProperties).length === 0);
  const openIn = (schema: z.ZodType, at: string): string[] => [
    ...(schema instanceof z.ZodUnknown ? [at] : []),
    ...placesIn(schema)
      .filter(({ place, schemas }) => place.at(-1) !== 'any' && schemas.some(isOpen))
      .map(({ place }) => [at, ...place].join('.')),
  ];
  const open = bodied.flatMap(({ id, body }) => [
    ...openIn(present(body), id),
    ...(DEEPER[id] ?? []).flatMap(([at, schema]) => openIn(schema, `${id}.${at}`)),
  ]);
  const known = Object.entries(DEEPER).flatMap(([id, deeper]) => deeper.map(([at]) => `${id}.${at}`));
  const unknown = open.filter((path) => !SCHEMAS.test(path) && !AS_IT_COMES.includes(path));
  expect(new Set(unknown)).toEqual(new Set(known.map((path) => path.replace(/\.\d+/g, '.0'))));
});
