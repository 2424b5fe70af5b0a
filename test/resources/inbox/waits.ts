/** What tests of the inbox do again and again. */
import { dispatch, tool } from '../../support/fixtures/runs.ts';
import { eventually, type Tenant } from '../../support/service/service.ts';

export const ASKER_AGENT = {
  slug: 'asker',
  model: 'offline',
  prompt: 'You ask before you answer.',
  allowed_tool_slugs: ['ask_human', 'await_submission'],
};

export const asks = (tenant: Tenant, question: string, options?: string[]): Promise<string> =>
  dispatch(tenant, { agent: ASKER_AGENT.slug, prompt: tool('ask_human', { question, ...(options && { options }) }) });

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a test expects of it is what its assertions say
type Row = Record<string, any> & { id: string; revision: number };

/** Newest first. */
export async function openWaits(tenant: Tenant, query: Record<string, string>): Promise<Row[]> {
  const { status, body } = await tenant.cp('GET', `/v1/inbox?${new URLSearchParams(query).toString()}`);
  if (status !== 200) throw new Error(`not listed: ${JSON.stringify(body)}`);
  return body.data;
}

/** The one that there is, once there is one. */
export const untilWait = (tenant: Tenant, query: Record<string, string>): Promise<Row> =>
  eventually(async () => {
    const [wait] = await openWaits(tenant, query);
    if (!wait) throw new Error(`nothing waits of ${JSON.stringify(query)}`);
    return wait;
  });

export const detailOf = async (tenant: Tenant, id: string): Promise<Row> => {
  const { status, body } = await tenant.cp('GET', `/v1/inbox/${id}`);
  if (status !== 200) throw new Error(`not there: ${JSON.stringify(body)}`);
  return body;
};

export const answer = (tenant: Tenant, { id, revision }: { id: string; revision: number }, body: object) =>
  tenant.cp('POST', `/v1/inbox/${id}/answer`, { revision, ...body });
