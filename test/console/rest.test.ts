/** What else the control plane can do, done in the console, each with its effect as the API tells it. */
import { expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { picture } from '../support/fixtures/belongings.ts';
import {
  gateStep,
  makeTemplate,
  phaseSpec,
  agentStep,
  startProject,
  untilProject,
} from '../support/fixtures/projects.ts';
import { INTERNAL_CALLER } from '../support/http/send.ts';
import { addMember } from '../resources/sign-in/people.ts';
import { confirm } from '../support/console/confirm.ts';
import { eventually, sessionFor } from '../support/service/service.ts';
import { testAccessibility } from '../support/console/accessible.ts';
import { describeConsole } from '../support/console/stage.ts';

await describeConsole('rest', {}, (stage) => {
  const { show } = stage;
  const read = async (path: string) => (await stage.acme.cp('GET', path)).body;

  // Guards: what stops spending is set, raised and removed without a terminal.
  test('a cap is set for an agent, raised, and removed', async () => {
    const { tab, open } = await show();
    await open('/costs?tab=caps');
    await tab.getByRole('button', { name: 'New cap' }).click();
    const form = tab.getByRole('dialog', { name: 'New cap' });
    await form.getByLabel('Of').selectOption({ label: 'An agent' });
    await form.getByLabel('Agent').selectOption('assistant');
    await form.getByLabel('In a calendar').selectOption('day');
    await form.getByLabel(/^Limit usd/).fill('2.5');
    await form.getByLabel(/^Alert at/).fill('60\n90');
    await form.getByRole('button', { name: 'Set the cap' }).click();
    await tab.getByRole('link', { name: 'The agent assistant' }).click();
    await tab.getByText('60 %, 90 %').waitFor();
    const [cap] = (await read('/v1/cost/caps')).data;
    expect(cap).toMatchObject({ id: 'agent.assistant.day', limit_usd: '2.5', alert_at: [60, 90] });
    await tab.getByRole('button', { name: 'Raise or lower' }).click();
    await tab
      .getByRole('dialog')
      .getByLabel(/^Limit usd/)
      .fill('4');
    await tab.getByRole('dialog').getByRole('button', { name: 'Raise or lower' }).click();
    await tab
      .getByRole('region', { name: /The agent assistant/ })
      .getByText('$4.00')
      .waitFor();
    expect((await read('/v1/cost/caps')).data[0]).toMatchObject({ limit_usd: '4', alert_at: [60, 90] });
    await tab.getByRole('button', { name: 'Remove' }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await tab.getByRole('heading', { name: 'Nothing caps spending yet' }).waitFor();
    expect((await read('/v1/cost/caps')).data).toEqual([]);
  });

  // Guards: whatever is known by a word is found from any page, and leads to where it is shown.
  test('a word leads to the project that has it', async () => {
    await makeTemplate(stage.acme, 'plain', [phaseSpec('text', [agentStep('write')])]);
    const id = await startProject(stage.acme, 'plain', { title: 'The quokka report' });
    await untilProject(stage.acme, id, 'completed');
    const { tab, open } = await show();
    await open('/health');
    await tab.getByRole('heading', { name: 'Health' }).waitFor();
    await tab.keyboard.press('Control+k');
    await tab.getByRole('combobox', { name: 'Search and commands' }).fill('quokka rep');
    await tab.getByRole('option', { name: /The quokka report.*Project/ }).click();
    await tab.waitForURL(new RegExp(`/projects/${id}$`));
  });

  // Guards against: letters that are lost because a script is loaded between the key and the box.
  test('the box has what is typed right after its key', async () => {
    const { tab, open } = await show();
    await open('/health');
    await tab.getByRole('heading', { name: 'Health' }).waitFor();
    // Nothing that is loaded from here on arrives.
    await tab.route('**/*.js', () => {});
    await tab.keyboard.press('Control+k');
    await tab.keyboard.type('quokka');
    expect(await tab.getByRole('combobox', { name: 'Search and commands' }).inputValue()).toBe('quokka');
  });

  // Guards: a conversation from its first word to its end: about a file, answered in place, renamed, deleted.
  test('a conversation is held, and deleted', async () => {
    const { tab, open, complaints } = await show();
    await open('/chat');
    await tab.getByRole('button', { name: 'New conversation' }).click();
    await tab.getByText(/^Files/).click();
    await tab
      .getByLabel('Add files')
      .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Bread.') });
    await tab.getByRole('button', { name: 'Add 1 file' }).click();
    await tab.getByLabel('notes.txt', { exact: true }).check();
    await tab.getByLabel('Message').fill('What do they say?');
    await tab.keyboard.press('Enter');
    const answer = tab.getByRole('region', { name: 'Answer' });
    await answer
      .getByText(/What do they say/)
      .first()
      .waitFor();
    const [thread] = (await read('/v1/chat/threads')).data;
    const [asked] = (await read(`/v1/chat/threads/${thread.id}/messages`)).data;
    expect(asked).toMatchObject({ content: expect.stringMatching(/^What do they say\?\s+\[attached: notes.txt/) });
    await tab.getByRole('button', { name: 'Rename' }).click();
    const form = tab.getByRole('dialog');
    await form.getByLabel('Title').fill('About bread');
    await form.getByLabel('Agent').selectOption('assistant');
    await form.getByRole('button', { name: 'Rename' }).click();
    await tab.getByRole('list', { name: 'Conversations' }).getByText('About bread').waitFor();
    expect(await read(`/v1/chat/threads/${thread.id}`)).toMatchObject({ title: 'About bread', agent: 'assistant' });
    // What happens in the workspace between its end and the answer that says so makes nobody look for it.
    await tab.route(`**/v1/chat/threads/${thread.id}`, async (route) => {
      if (route.request().method() !== 'DELETE') return route.continue();
      const response = await route.fetch();
      for (const prompt of ['Meanwhile', 'And again']) {
        const listed = tab.waitForResponse(/chat\/threads\?/);
        await stage.acme.run({ agent: 'assistant', prompt });
        await listed;
      }
      return route.fulfill({ response });
    });
    await tab.getByRole('button', { name: 'Delete' }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await tab.waitForURL(/\/chat$/);
    await tab.getByRole('heading', { name: 'No conversation yet' }).waitFor();
    expect((await read('/v1/chat/threads')).data).toEqual([]);
    expect(complaints).toEqual([]);
  });

  // Guards: what can be done about a wait besides answering it.
  test('others are reminded of a wait, one is named, and its links are withdrawn', async () => {
    const { customerId, actor } = stage.acme.caller;
    await Promise.all(['bob@acme.example', actor].map((who) => addMember(stage.service, customerId, who, 'member')));
    await makeTemplate(stage.acme, 'asked', [
      phaseSpec('text', [agentStep('write'), gateStep('ok', 'human', { approvers: { emails: [actor] } })]),
    ]);
    const project = await startProject(stage.acme, 'asked');
    const wait = await eventually(async () => {
      const [one] = (await read(`/v1/inbox?project_id=${project}`)).data;
      expect(one).toBeDefined();
      return one;
    });
    const { tab, open } = await show();
    await open(`/inbox/${wait.id}`);
    await tab.getByRole('button', { name: 'Remind' }).click();
    await tab.getByText('Those who can answer are reminded').waitFor();
    await tab.getByRole('button', { name: 'Let somebody stand in' }).click();
    await tab.getByLabel('E-mail of a member').fill('bob@acme.example');
    await tab.getByRole('button', { name: 'Name them' }).click();
    await tab.getByText('bob@acme.example may answer in your place').waitFor();
    expect(await read(`/v1/inbox/${wait.id}`)).toMatchObject({
      reminders: 1,
      delegations: [{ to: 'bob@acme.example' }],
    });
    await tab.getByRole('button', { name: 'Withdraw links' }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Withdraw them' }).click();
    await tab.getByText('The links that were sent lead nowhere now').waitFor();
  });

  // Guards: how the memory hangs together is seen, and what is archived goes in one act.
  test('the memory is drawn and counted, and what is archived is deleted', async () => {
    const make = async (slug: string, content: string) =>
      (await stage.acme.cp('POST', '/v1/memory/entries', { type: 'fact', slug, content })).body;
    await make('rye', 'Rye is dark.');
    await make('bread', 'Bread is made of [[rye]].');
    const { id } = await make('old', 'Nobody bakes.');
    // By itself this takes a code, as its deletion does below.
    await stage.service.runtime.db.rows(sql`update memory_entries set status = 'archived' where id = ${id}`);
    const { tab, open } = await show();
    await open('/memory?tab=counts');
    await tab.getByRole('table', { name: 'By type' }).getByText('fact').waitFor();
    await tab.getByRole('tab', { name: 'Graph' }).click();
    await tab.getByRole('region', { name: 'Links between entries' }).getByRole('link', { name: /rye/ }).click();
    await tab.getByText('Rye is dark.').first().waitFor();
    await tab.getByRole('button', { name: 'Delete 1 archived entry' }).click();
    const dialog = tab.getByRole('dialog');
    await confirm(tab, () => dialog.getByRole('button', { name: 'Delete 1 archived entry' }).click());
    await tab.getByText('Deleted').first().waitFor();
    expect((await stage.acme.cp('GET', `/v1/memory/entries/${id}`)).status).toBe(404);
  });

  // Guards: an agent's picture and voice, and the files of a job.
  test('an agent gets a picture and a voice, a job gets a file', async () => {
    const { tab, open } = await show();
    await open('/catalog?id=assistant');
    const file = { name: 'face.png', mimeType: 'image/png', buffer: Buffer.from(await picture()) };
    await tab.getByLabel('Picture', { exact: true }).setInputFiles(file);
    await tab.getByRole('img', { name: 'Picture of assistant' }).waitFor();
    await tab.getByRole('button', { name: 'Set the voice' }).click();
    await tab.getByRole('dialog').getByLabel('Voice').fill('alto');
    await tab.getByRole('dialog').getByRole('button', { name: 'Set the voice' }).click();
    await tab.getByText('alto').waitFor();
    expect(await read('/v1/agents/assistant/detail')).toMatchObject({ has_avatar: true, voice: 'alto' });
    await tab.getByRole('button', { name: 'Take the picture away' }).click();
    await tab.getByRole('img', { name: 'Picture of assistant' }).waitFor({ state: 'detached' });

    const job = { name: 'Morning', cron: '0 6 * * 1', agent_slug: 'assistant', brief: 'Sum it up.' };
    const { id } = (await stage.acme.cp('POST', '/v1/scheduled-jobs', job)).body;
    await open(`/schedules?id=${id}`);
    await tab.getByText(/^Files/).click();
    await tab
      .getByLabel('Add files')
      .setInputFiles({ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('Plan.') });
    await tab.getByRole('button', { name: 'Add 1 file' }).click();
    await tab.getByRole('link', { name: 'plan.txt' }).waitFor();
  });

  // Guards: one step of a project that is paused.
  test('a paused project runs one step', async () => {
    await makeTemplate(stage.acme, 'steps', [phaseSpec('text', [gateStep('wait'), agentStep('write')])]);
    const id = await startProject(stage.acme, 'steps');
    await untilProject(stage.acme, id, 'active');
    await stage.acme.cp('POST', `/v1/projects/${id}/pause`);
    const { tab, open } = await show();
    await open(`/projects/${id}`);
    const ran = tab.waitForResponse((response) => response.url().endsWith('/run-step'));
    await tab.getByRole('button', { name: 'Run one step' }).click();
    expect((await ran).status()).toBe(200);
  });

  // Guards: who operates the deployment sees its customers, and notes what is known of one; who does not sees no such page.
  test('customers are for who operates the deployment', async () => {
    const { tab, open } = await show({}, { session: sessionFor(INTERNAL_CALLER) });
    await open('/workspace?tab=customers');
    await tab.getByRole('link', { name: 'acc_acme' }).click();
    await tab.getByRole('button', { name: 'Say how it stands' }).click();
    await tab.getByRole('dialog').getByLabel('Status').selectOption('at_risk');
    await tab.getByRole('dialog').getByRole('button', { name: 'Say how it stands' }).click();
    await tab.getByText('at risk').first().waitFor();
    await tab.getByRole('textbox', { name: 'Note' }).fill('Called on Monday.');
    await tab.getByRole('button', { name: 'Note it' }).click();
    await tab.getByRole('list', { name: 'What was noted' }).getByText('Called on Monday.').waitFor();
    await tab.getByRole('button', { name: 'Delete note' }).click();
    await tab.getByText('Called on Monday.').waitFor({ state: 'detached' });
    const other = await show();
    await other.open('/workspace');
    await other.tab.getByRole('tab', { name: 'About' }).waitFor();
    expect(await other.tab.getByRole('tab', { name: 'Customers' }).count()).toBe(0);
  });

  // Guards: the end of a workspace, which says what it takes with it, and offers everything before.
  test('a workspace is taken out, and taken down', async () => {
    const doomed = await stage.service.tenant('acc_doomed');
    const { tab, open } = await show({}, doomed);
    await open('/workspace?tab=workspaces');
    await tab.getByRole('link', { name: 'acc_doomed' }).click();
    expect(await tab.getByRole('link', { name: 'acc_acme' }).count()).toBe(0);
    await tab.getByRole('button', { name: 'Take down' }).click();
    await tab
      .getByRole('dialog')
      .getByText(/removed/)
      .waitFor();
    await tab.getByRole('dialog').getByRole('link', { name: 'download an archive first' }).click();
    await tab.getByRole('heading', { name: 'No archive yet' }).waitFor();
    await confirm(tab, () => tab.getByRole('button', { name: 'Export everything' }).click());
    await tab.getByText('Ready').waitFor();
    await tab.getByRole('table').getByRole('link').first().click();
    const saved = tab.waitForEvent('download');
    await tab.getByRole('link', { name: /^Download/ }).click();
    expect((await saved).suggestedFilename()).toMatch(/^acc_doomed-\d+\.tar\.gz$/);
    await open('/workspace?tab=workspaces&id=acc_doomed');
    await tab.getByRole('button', { name: 'Take down' }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Take down' }).click();
    await eventually(async () =>
      expect((await doomed.cp('GET', '/v1/workspaces/acc_doomed')).body).toMatchObject({ status: 'archived' }),
    );
  });

  // Guards: WCAG 2.2 AA on each page, in both themes, at a desk and on a phone; nothing wider than the window.
  testAccessibility(stage, async () => {
    await stage.acme.cp('PUT', '/v1/cost/caps/workspace.month', { limit_usd: '50' });
    const { body } = await stage.acme.cp('POST', '/v1/chat/threads', { title: 'Words' });
    await stage.acme.cp('POST', `/v1/chat/threads/${body.id}/messages`, { content: 'Say something.' });
    return [
      ['/costs?tab=caps&id=workspace.month', 'region'],
      [`/chat?id=${body.id}`, 'log'],
      ['/memory?tab=graph', 'region'],
      ['/memory?tab=counts', 'table'],
      ['/workspace?tab=workspaces&id=acc_acme', 'region'],
    ];
  });
});
