/** The console's views of everything that is neither run, project nor inbox: what is shown is real, what is pressed works. */
import { afterAll, expect, test } from '@jest/globals';
import { present } from '../../src/platform/core/present.ts';
import { startScriptedServer, tool, type ScriptedServer } from '../platform/mcp/scripted-server.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { confirm } from '../support/console/confirm.ts';
import { codeOf } from '../support/service/otp.ts';
import { eventually, startTestService } from '../support/service/service.ts';
import { testAccessibility } from '../support/console/accessible.ts';
import { describeConsole } from '../support/console/stage.ts';

let receiver: WebhookReceiver | undefined;
let mcp: ScriptedServer | undefined;
let isTaking = false;
const start = async () => {
  receiver = await startWebhookReceiver(() => (isTaking ? 200 : { status: 500, body: 'out of order' }));
  mcp = await startScriptedServer([
    tool('search'),
    tool('tree', { inputSchema: SELF_REFERRING }),
    tool('bad', { inputSchema: { type: 'object', properties: { n: { type: 'int' } } } }),
  ]);
  const dying = { command: process.execPath, args: ['-e', 'console.error("no licence"); process.exitCode = 1'] };
  const env = {
    EGRESS_ALLOWLIST: receiver.hostAndPort,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_RETRY_INITIAL: '1ms',
    MCP_SERVERS: JSON.stringify({ shop: { url: mcp.url }, dying }),
  };
  return startTestService({ env });
};
const SELF_REFERRING = {
  type: 'object',
  properties: { root: { $ref: '#/$defs/node' } },
  $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
};

await describeConsole('sections', { start }, (stage) => {
  const { show } = stage;
  afterAll(() => Promise.all([receiver?.close(), mcp?.close()]));

  // Guards: why a webhook fails is found, and what failed is sent again, without a terminal; a secret is shown once.
  test('a webhook is registered, seen failing with what was answered, and sent again', async () => {
    const { tab, open } = await show();
    await open('/webhooks');
    await tab.getByRole('button', { name: 'New endpoint' }).first().click();
    const form = tab.getByRole('dialog', { name: 'New endpoint' });
    await form.getByRole('textbox', { name: 'Url' }).fill(present(receiver).url);
    await form.getByRole('button', { name: 'New endpoint' }).click();
    const secret = tab.getByRole('dialog', { name: 'The signing secret' });
    await secret.getByText(/^whsec_/).waitFor();
    await secret.getByRole('button', { name: 'I have kept it' }).click();
    await stage.acme.run({ agent: 'assistant', prompt: 'Tell the world' });
    await tab.getByRole('link', { name: present(receiver).url }).click();
    const delivery = tab.getByRole('list', { name: 'Deliveries' }).getByRole('listitem').first();
    await delivery.getByText('Given up').waitFor();
    await delivery.getByText('run.succeeded').click();
    await delivery.getByText('HTTP 500').first().waitFor();
    await delivery.getByText('out of order').first().waitFor();
    isTaking = true;
    await delivery.getByRole('button', { name: 'Send again' }).click();
    await delivery.getByText('Delivered').waitFor();
    await delivery.getByText('HTTP 200').waitFor();
    expect(await tab.content()).not.toContain('whsec_');
    await tab.getByRole('button', { name: 'Delete' }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await tab.getByRole('heading', { name: 'No endpoint yet' }).waitFor();
    const { body } = await stage.acme.cp('GET', '/v1/webhook-deliveries/endpoints');
    expect(body.data).toEqual([]);
  });

  // Guards: a person sees which MCP servers work, which of their tools agents have, and why others are left out.
  test('MCP servers are shown with their tools, what is left out of them, and why one is down', async () => {
    const { tab, open } = await show();
    await open('/catalog');
    await tab.getByRole('tab', { name: 'MCP servers' }).click();
    await tab.getByRole('row', { name: /dying Failed operator .*no licence/ }).waitFor();
    await tab.getByRole('row', { name: /shop Connected operator 2 1/ }).waitFor();
    await tab.getByRole('link', { name: 'shop' }).click();
    const tools = tab.getByRole('region', { name: 'Tools' }).getByRole('listitem');
    expect(await tools.allInnerTexts()).toEqual([
      expect.stringContaining('Does search.'),
      expect.stringMatching(/another form: the schema refers to itself/),
    ]);
    const leftOut = tab.getByRole('region', { name: 'Left out' }).getByRole('listitem');
    expect(await leftOut.allInnerTexts()).toEqual([expect.stringMatching(/^bad\s+the schema is not valid/)]);
    await tab.getByRole('link', { name: 'mcp.shop.search' }).click();
    await tab.getByRole('region', { name: 'mcp.shop.search' }).getByText('It was not called yet.').waitFor();
  });

  // Guards: who has the address and nothing else: three real actions, each of which shows that it is done.
  test('the first five minutes: a run, an approval, a webhook that arrives', async () => {
    isTaking = true;
    const newcomer = await stage.service.tenant('acc_newcomer');
    const { tab, open, complaints } = await show({}, newcomer);
    const step = (name: string) => tab.getByRole('listitem', { name });
    await open('/runs');
    await tab.getByRole('link', { name: 'The first five minutes' }).click();
    await step('Run an agent').getByRole('button', { name: 'Start this run' }).click();
    await step('Run an agent').getByText('done', { exact: true }).waitFor();
    await step('Approve a project').getByRole('button', { name: 'Start a blog post' }).click();
    await step('Approve a project').getByRole('link', { name: 'Answer what waits' }).click();
    await tab.getByRole('list', { name: 'Waits' }).getByRole('link').first().click();
    await tab.getByRole('button', { name: 'Approve' }).click();
    await tab.getByText(`${newcomer.caller.actor} approved`).waitFor();
    await open('/welcome');
    await step('Approve a project').getByText('done', { exact: true }).waitFor();
    await step('See a webhook arrive').getByLabel('Address').fill(present(receiver).url);
    await step('See a webhook arrive').getByRole('button', { name: 'Register it and send one' }).click();
    await step('See a webhook arrive').getByText('done', { exact: true }).waitFor();
    expect(present(receiver).received.some(({ body }) => body.includes('run.succeeded'))).toBe(true);
    expect(complaints).toEqual([]);
  });

  // Guards: a model key is put in with the code that was mailed for it, in place; its value is nowhere on the page.
  test('a model key is put in and taken away, each with a code', async () => {
    const { tab, open } = await show();
    await open('/runs');
    await tab.getByRole('link', { name: /Offline model/ }).click();
    await tab.getByRole('link', { name: 'Anthropic' }).click();
    await tab.getByLabel('API key').fill('sk-ant-canary-of-a-key');
    await confirm(tab, () => tab.getByRole('button', { name: 'Set', exact: true }).click());
    await tab.getByRole('button', { name: 'Replace' }).waitFor();
    expect(await tab.content()).not.toContain('sk-ant-canary');
    const { body } = await stage.acme.cp('GET', '/v1/integrations/anthropic');
    expect(body.credentials_set).toBe(1);
    await confirm(tab, () => tab.getByRole('button', { name: 'Take away' }).click());
    await tab.getByRole('button', { name: 'Set', exact: true }).waitFor();
  });

  // Guards: a code that is wrong is asked for again, and giving up changes nothing.
  test('a wrong code is said to be wrong, and giving up changes nothing', async () => {
    const { tab, open } = await show();
    await open('/workspace?tab=integrations&id=openai');
    await tab.getByLabel('API key').fill('sk-another');
    await tab.getByRole('button', { name: 'Set', exact: true }).click();
    const box = tab.getByRole('dialog', { name: 'Confirm with a code' });
    await box.getByLabel('Code').fill('000000');
    await box.getByRole('button', { name: 'Confirm' }).click();
    await box.getByText('That was not the code').waitFor();
    await box.getByRole('button', { name: 'Cancel' }).click();
    await tab.getByText('It was not confirmed. Nothing was changed.').waitFor();
    const { body } = await stage.acme.cp('GET', '/v1/integrations/openai');
    expect(body.credentials_set).toBe(0);
  });

  // Guards: two requests that need a code at once, of which one would never be answered.
  test('codes that are needed at the same time are asked for one after another', async () => {
    const { tab, open } = await show();
    await open('/workspace?tab=integrations&id=slack');
    const slots = tab.locator('form').filter({ has: tab.getByRole('button', { name: 'Set', exact: true }) });
    const demands: Promise<{ detail: { challenge_id: string; scope: string } }>[] = [];
    tab.on('response', (response) => void (response.status() === 403 && demands.push(response.json())));
    await slots.nth(0).locator('input').fill('one');
    await slots.nth(1).locator('input').fill('two');
    await tab.evaluate(
      `for (const form of [...document.querySelectorAll('form')].filter((each) => each.textContent.includes('Set')).slice(0, 2)) form.requestSubmit();`,
    );
    const box = tab.getByRole('dialog', { name: 'Confirm with a code' });
    await box.getByText('After it, 1 more code will be asked for').waitFor();
    const [one, two] = await Promise.all(demands);
    for (const { detail } of [present(one), present(two)]) {
      await box.getByText(`For: ${detail.scope}`).waitFor();
      expect(await box.getByLabel('Code').inputValue()).toBe('');
      await box.getByLabel('Code').fill(codeOf(detail.challenge_id));
      await box.getByRole('button', { name: 'Confirm' }).click();
    }
    await box.waitFor({ state: 'detached' });
    await eventually(async () => {
      const { body } = await stage.acme.cp('GET', '/v1/integrations/slack');
      expect(body.credentials_set).toBe(2);
    });
  });

  // Guards: colleagues, keys and jobs are made by forms of the service's own schemas, and what it refuses is said there.
  test('a colleague is invited, a key made and revoked, a job made, switched and deleted', async () => {
    const { tab, open } = await show();
    await open('/workspace');
    await tab.getByRole('button', { name: 'Invite' }).click();
    const invite = tab.getByRole('dialog', { name: 'Invite' });
    await invite.getByLabel('Email').fill('not an address');
    await invite.getByRole('button', { name: 'Invite' }).click();
    await invite.getByText('expects an e-mail address').waitFor();
    await invite.getByLabel('Email').fill('ana@example.com');
    await invite.getByLabel('Role').selectOption('admin');
    await invite.getByRole('button', { name: 'Invite' }).click();
    const invited = tab.getByRole('dialog', { name: 'ana@example.com may sign in now' });
    await invited.getByText(`${stage.service.baseUrl}/console`).waitFor();
    await invited.getByRole('button', { name: 'Done' }).click();
    await tab.getByRole('row', { name: /ana@example.com admin/ }).waitFor();
    const { body: members } = await stage.acme.cp('GET', `/v1/workspaces/${stage.acme.caller.workspaceId}/members`);
    expect(members.data).toContainEqual(expect.objectContaining({ email: 'ana@example.com', role: 'admin' }));

    await tab.getByRole('tab', { name: 'API keys' }).click();
    await tab.getByRole('button', { name: 'New key' }).click();
    await tab.getByRole('dialog').getByLabel('Name').fill('From the console');
    await tab.getByRole('dialog').getByRole('button', { name: 'New key' }).click();
    await tab
      .getByText(/^svc_pk_\w+/)
      .first()
      .waitFor();
    await tab.getByRole('button', { name: 'I have kept it' }).click();
    await tab.getByRole('link', { name: 'From the console' }).click();
    await tab.getByRole('button', { name: 'Revoke' }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await tab.getByRole('row', { name: /From the console/ }).waitFor();

    await open('/schedules');
    await tab.getByRole('button', { name: 'New job' }).click();
    const job = tab.getByRole('dialog', { name: 'New job' });
    await job.getByLabel('Name').fill('Morning report');
    await job.getByLabel('Agent slug').selectOption('assistant');
    await job.getByLabel('Brief').fill('What is new?');
    await job.getByRole('button', { name: 'New job' }).click();
    await tab.getByRole('link', { name: 'Morning report' }).click();
    await tab.getByRole('button', { name: 'Switch off' }).click();
    await tab.getByRole('button', { name: 'Switch on' }).waitFor();
    await tab.getByRole('button', { name: 'Run now' }).click();
    await tab.getByRole('link', { name: 'What it has started' }).click();
    await tab.getByRole('list', { name: 'Runs' }).getByText('What is new?').first().waitFor();
  });

  // Guards: what the workspace knows is kept, found by its meaning, checked and deleted with a code.
  test('an entry of the memory is kept, found, verified and deleted', async () => {
    const { tab, open } = await show();
    await open('/memory');
    await tab.getByRole('button', { name: 'New entry' }).click();
    const form = tab.getByRole('dialog', { name: 'New entry' });
    await form.getByLabel('Content').fill('We never ship on Fridays.');
    await form.getByLabel('Type').fill('fact');
    await form.getByLabel('Slug').fill('no-friday-releases');
    await form.getByRole('button', { name: 'New entry' }).click();
    await tab.getByRole('link', { name: 'no-friday-releases' }).waitFor();
    await tab.getByLabel('Search by meaning').fill('when do we release');
    await tab.keyboard.press('Enter');
    await tab.getByRole('link', { name: 'no-friday-releases' }).click();
    await tab.getByRole('button', { name: 'It still holds' }).click();
    await tab.getByText('Noted').waitFor();
    await tab.getByRole('button', { name: 'Delete' }).click();
    const dialog = tab.getByRole('dialog', { name: 'Delete this entry for good?' });
    await confirm(tab, () => dialog.getByRole('button', { name: 'Delete' }).click());
    await tab.getByRole('heading', { name: 'Nothing is close to that' }).waitFor();
  });

  // Guards: WCAG 2.2 AA on each page, in both themes, at a desk and on a phone; nothing wider than the window.
  testAccessibility(stage, async () => {
    await stage.acme.run({ agent: 'assistant', prompt: 'Something that costs' });
    return [
      ['/costs?by=day', 'table'],
      ['/webhooks', 'heading'],
      ['/webhooks?tab=destinations', 'heading'],
      ['/catalog?id=assistant', 'region'],
      ['/catalog?tab=workflows&id=blog-post', 'region'],
      ['/catalog?tab=tools&id=calculator', 'region'],
      ['/catalog?tab=mcp-servers&id=shop', 'region'],
      ['/memory', 'search'],
      ['/schedules', 'table'],
      ['/workspace', 'table'],
      ['/workspace?tab=integrations&id=anthropic', 'region'],
      ['/workspace?tab=billing', 'region'],
      ['/workspace?tab=audit', 'table'],
      ['/health', 'table'],
      ['/welcome', 'list'],
    ];
  });
});
