/** The pieces of work that a workload is made of. Each says what it asks for with directives of the offline model. */
import { setTimeout as wait } from 'node:timers/promises';
import { present } from '../../src/platform/core/present.ts';
import type { BillingStore } from '../../src/resources/billing/store.ts';
import type { PhaseSpec } from '../../src/resources/templates/model.ts';
import { agentStep, gateStep, phaseSpec, reviewStep } from '../support/fixtures/projects.ts';
import { between, pick } from './random.ts';
import type { Accepted, Reply, Request } from './workload.ts';

/** The tool whose call may be repeated, and the one whose call may not; both take a key. */
export const PUT = 'proof_put';
export const POST = 'proof_post';

export interface Work {
  /** Unique; in every key, prompt and brief of this piece of work. */
  name: string;
  random: () => number;
  call(request: Request): Promise<Reply>;
  accepted: Accepted;
  refused: Set<string>;
  paid: Set<string>;
  /** Sells credit; undefined where nobody can but through a provider. */
  billing: Pick<BillingStore, 'addTopup'> | undefined;
  customerId: string;
}

export type Kind = (work: Work) => Promise<void>;

/** A directive of the offline model. */
const tool = (slug: string, args: object): string => `[[tool:${slug} ${JSON.stringify(args)}]]`;
export const put = (key: string) => tool(PUT, { key });
const post = (key: string) => tool(POST, { key });

/** @returns the id where it was accepted */
export async function dispatch(
  { name, call, accepted, refused }: Work,
  kind: string,
  prompt: string,
  more: object = {},
): Promise<string | undefined> {
  const body = { agent: 'prover', prompt: `This is ${name}. ${prompt}`, ...more };
  const { status, body: answer } = await call({ surface: 'api', method: 'POST', path: '/v1/runs', body });
  if (isRefusal(status)) refused.add(name);
  if (status !== 201) return undefined;
  accepted.runs.set(answer.run_id, kind);
  return answer.run_id;
}

/** Its name is the kind's, for whoever tells of it. */
function run(kind: string, prompt: (work: Work) => string, more: (work: Work) => object = () => ({})): Kind {
  const named: Record<string, Kind> = {
    async [kind](work) {
      const id = await dispatch(work, kind, prompt(work), more(work));
      if (id !== undefined) await work.call({ surface: 'api', method: 'GET', path: `/v1/runs/${id}` });
    },
  };
  return present(named[kind]);
}

/** Answers after which nothing may be there: it could not be begun, or there was no room for it. */
const isRefusal = (status: number): boolean => status === 502 || status === 507;

const isEnded = (status: number): boolean => status === 200 || status === 409;

const cancelled: Kind = async (work) => {
  const id = await dispatch(work, 'cancelled', '[[sleep:1500]] Think it over.');
  if (id === undefined) return;
  await work.call({ surface: 'cp', method: 'POST', path: `/v1/runs/${id}/cancel`, isGood: isEnded });
};

/** Three phases deep, two wide, steps side by side, a review, a gate, and every kind of call. */
const phasesOf = (name: string): PhaseSpec[] => {
  const step = (slug: string, directive: string, more = {}) =>
    agentStep(slug, { assignee: 'prover', instructions: `Write it. ${directive}`, tools: [PUT, POST], ...more });
  return [
    phaseSpec('plan', [step('start', put(`${name}-start`)), reviewStep('check')]),
    phaseSpec('left', [step('one', post(`${name}-one`)), step('two', put(`${name}-two`), { depends_on: [] })], {
      depends_on: ['plan'],
    }),
    phaseSpec('right', [step('three', put(`${name}-three`)), gateStep('ask')], { depends_on: ['plan'] }),
    phaseSpec(
      'end',
      [
        step('last', post(`${name}-last`)),
        { step_slug: 'join', kind: 'action', role: 'assembler', assignee: 'assemble_markdown', depends_on: ['last'] },
      ],
      { depends_on: ['left', 'right'] },
    ),
  ];
};

const project: Kind = async (work) => {
  const { name, random, call, accepted, refused } = work;
  const spec = { slug: name, version: 1, title: name, phases: phasesOf(name) };
  const made = await call({ surface: 'cp', method: 'POST', path: '/v1/workflows', body: { spec } });
  if (made.status !== 201) return;
  const surface = pick(random, ['api', 'cp'] as const);
  const body = { workflow_slug: name, title: name, brief: `This is ${name}.` };
  const { status, body: answer } = await call({ surface, method: 'POST', path: '/v1/projects', body });
  if (isRefusal(status)) refused.add(name);
  if (status === 201) accepted.projects.set(answer.project_id ?? answer.id, 'project');
};

/** A provider tells of a payment until it is heard, and then once more, as providers do. */
const paying: Kind = async ({ name, customerId, call, paid, billing }) => {
  if (!billing) return;
  const sessionId = `cs_${name}`;
  const bought = { currency: 'USD', chargedCents: 500, creditUsdMicros: 5_000_000, fxUsdIdr: '1' } as const;
  const isSold = await billing.addTopup({ sessionId, customerId, ...bought }).then(
    () => true,
    // The database is being killed: nothing was sold.
    () => false,
  );
  if (!isSold) return;
  const object = { id: sessionId, object: 'checkout.session', payment_status: 'paid' };
  const event = { id: `evt_${name}`, object: 'event', type: 'checkout.session.completed', data: { object } };
  const tell = () => call({ surface: 'provider', method: 'POST', path: '/v1/billing/webhooks', body: event });
  for (let left = PROVIDER_PATIENCE; (await tell()).status !== 200; left--) {
    if (left === 0) return;
    await wait(1_000);
  }
  paid.add(sessionId);
  await tell();
};
const PROVIDER_PATIENCE = 100;

export const reading: Kind = async ({ random, call, accepted }) => {
  const runs = [...accepted.runs.keys()];
  const projects = [...accepted.projects.keys()];
  const path = pick(random, [
    ...['/v1/runs?limit=20', '/v1/projects', '/v1/webhook-deliveries', '/v1/billing/wallet'],
    ...(runs.length > 0 ? [`/v1/runs/${pick(random, runs)}/events`] : []),
    ...(projects.length > 0 ? [`/v1/projects/${pick(random, projects)}/events`] : []),
  ]);
  await call({ surface: 'cp', method: 'GET', path });
};

/** With how often each is picked beside the others. */
export const KINDS: readonly (readonly [Kind, number])[] = [
  [run('put', ({ name }) => put(`${name}-a`)), 3],
  [run('post', ({ name }) => post(`${name}-a`)), 3],
  [run('put, then post', ({ name }) => `${put(`${name}-a`)} [[then]] ${post(`${name}-b`)}`), 3],
  [run('failing', () => '[[fail-status:400]]'), 1],
  [
    run(
      'conversation',
      () => '[[sleep:200]] Go on.',
      ({ random }) => ({ thread_id: `thread-${between(random, 1, 3)}` }),
    ),
    2,
  ],
  [
    run('spawning', ({ name }) =>
      tool('spawn_run', { agent: 'prover', prompt: `Child of ${name}. ${put(`${name}-c`)}` }),
    ),
    1,
  ],
  [cancelled, 1],
  [project, 2],
  [paying, 1],
  [reading, 6],
];
