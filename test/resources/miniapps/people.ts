/** What tests of pages look at and do: runs that ask, and people who answer. */
import { first, last } from '../../../src/platform/core/present.ts';
import { dispatch, eventsOf, tool } from '../../support/fixtures/runs.ts';
import { call, eventually, type Answer, type Tenant, type TestService } from '../../support/service/service.ts';

export const ASKER = 'asker';

const FORM_HTML = '<!doctype html><h1>Order</h1><form><input name="size"><button>Send</button></form>';

/** A tenant with a miniapp tool `order_form` and an agent that may use it, and may ask. */
export async function newTenant(service: TestService, workspaceId: string, html = FORM_HTML): Promise<Tenant> {
  const tenant = await service.tenant(workspaceId);
  const made = await tenant.cp('POST', '/v1/tools', {
    slug: 'order_form',
    description: 'A form',
    kind: 'miniapp',
    body: { html },
    effect: 'idempotent',
    schema: { type: 'object', properties: { product: {} } },
  });
  if (made.status !== 201) throw new Error(`no tool was made: ${JSON.stringify(made.body)}`);
  const agent = await tenant.cp('POST', '/v1/agents', {
    slug: ASKER,
    model: 'offline',
    prompt: 'You ask.',
    description: 'Asks',
    allowed_tool_slugs: ['ask_human', 'await_submission', 'order_form'],
  });
  if (agent.status !== 201) throw new Error(`no agent was made: ${JSON.stringify(agent.body)}`);
  return tenant;
}

export const asks = (tenant: Tenant, question: object): Promise<string> =>
  dispatch(tenant, { agent: ASKER, prompt: tool('ask_human', question) });

/** A page, at the address under which the test reaches it. */
export interface Page {
  id: string;
  url: string;
  token: string;
}

const pageAt = (service: TestService, id: string, url: string): Page => {
  const { pathname } = new URL(url);
  return { id, url: service.baseUrl + pathname, token: last(pathname.split('/')) };
};

/** The page that a run has told it waits for. */
export const askedOn = (service: TestService, tenant: Tenant, runId: string): Promise<Page> =>
  eventually(async () => {
    const asked = (await eventsOf(tenant, runId)).find(({ payload }) => payload.url);
    if (!asked) throw new Error(`run ${runId} has not asked yet`);
    return pageAt(service, asked.payload.page_id, asked.payload.url);
  });

/** A page of the miniapp tool, of a run that has ended. */
export async function openForm(service: TestService, tenant: Tenant, args: object = {}): Promise<Page> {
  const { run_id: runId } = await tenant.run({ agent: ASKER, prompt: tool('order_form', args) });
  const { result_preview: result } = first(await resultsOf(tenant, runId));
  const { page_id: id, url } = JSON.parse(result) as { page_id: string; url: string };
  return pageAt(service, id, url);
}

/** The `tool_result` events of a run. */
export const resultsOf = async (tenant: Tenant, runId: string) =>
  (await eventsOf(tenant, runId))
    .filter(({ event_type: type }) => type === 'tool_result')
    .map(({ status, payload }) => ({ status, ...(payload as { tool: string; result_preview: string }) }));

export const look = (page: Page): Promise<Answer> => call(page.url, 'GET', {});

/** @param body sent as it is: what a page sends is text to its browser */
export async function send(page: Page, body: string): Promise<Answer> {
  const response = await fetch(page.url, { method: 'POST', body });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
