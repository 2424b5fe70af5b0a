/** Work beside that of every proof, for what else is written of runs, projects and deliveries. */
import { pick } from './random.ts';
import type { Sink } from './sink.ts';
import { dispatch, put, type Kind } from './workload-kinds.ts';
import type { Workload } from './workload.ts';

/** Where the artifacts of each project go. */
export async function prepareAcks({ call }: Pick<Workload, 'call'>, sink: Pick<Sink, 'url'>): Promise<void> {
  const config = { url: `${sink.url}/output` };
  const body = { name: 'outputs', kind: 'webhook', config };
  const { status, body: answer } = await call({ surface: 'cp', method: 'POST', path: '/v1/output-destinations', body });
  if (status !== 201) throw new Error(`no destination: ${status} ${JSON.stringify(answer)}`);
}

const isDone = (status: number): boolean => (status >= 200 && status < 300) || status === 404 || status === 409;

/** Of which each call is held against a limit. */
const limited: Kind = async (work) => {
  await dispatch(work, 'limited', put(`${work.name}-a`), { override: { cost_budget_usd: '1' } });
};

const asking: Kind = async (work) => {
  await dispatch(work, 'asking', '[[tool:current_time {}]] [[then]] Say it.', { override: { cost_budget_usd: 1 } });
};

/** A reply that is long in coming, and whose run is cancelled meanwhile. */
const cutOff: Kind = async (work) => {
  const id = await dispatch(work, 'cancelled', '[[sleep:4000]] Think it over.');
  if (id === undefined) return;
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await work.call({ surface: 'cp', method: 'POST', path: `/v1/runs/${id}/cancel`, isGood: isDone });
};

/** A person sends what was delivered once more. */
const redelivering: Kind = async ({ random, call }) => {
  for (const path of ['/v1/webhook-deliveries', '/v1/output-destinations/deliveries']) {
    const { status, body } = await call({ surface: 'cp', method: 'GET', path: `${path}?limit=20&status=delivered` });
    if (status !== 200 || body.data.length === 0) continue;
    const { id } = pick(random, body.data as { id: string }[]);
    await call({ surface: 'cp', method: 'POST', path: `${path}/${id}/redeliver`, isGood: isDone });
  }
};

/** A schedule, from its beginning to its end. */
const scheduling: Kind = async ({ name, call }) => {
  const path = '/v1/scheduled-jobs';
  const job = { name, cron: '0 0 1 1 *', agent_slug: 'prover', brief: 'Happy new year.' };
  const { status, body } = await call({ surface: 'cp', method: 'POST', path, body: job });
  if (status !== 201) return;
  const change = { cron: '0 1 1 1 *' };
  await call({ surface: 'cp', method: 'PATCH', path: `${path}/${body.id}`, body: change, isGood: isDone });
  await call({ surface: 'cp', method: 'DELETE', path: `${path}/${body.id}`, isGood: isDone });
};

/** The people of the workspace let it go on. */
const pausing: Kind = async ({ random, call, accepted }) => {
  const ids = [...accepted.projects.keys()];
  if (ids.length === 0) return;
  await call({ surface: 'cp', method: 'POST', path: `/v1/projects/${pick(random, ids)}/pause`, isGood: isDone });
};

export const ACK_KINDS: readonly (readonly [Kind, number])[] = [
  [limited, 1],
  [asking, 1],
  [cutOff, 1],
  [redelivering, 1],
  [scheduling, 1],
  [pausing, 1],
];
