/** What a person does in the console, each with its effect as the API tells it. */
import { beforeAll, expect, test } from '@jest/globals';
import { pdfOfPages } from '../support/documents/pdf.ts';
import { sql } from 'drizzle-orm';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { dispatch, untilStatus } from '../support/fixtures/runs.ts';
import {
  agentStep,
  gateStep,
  makeTemplate,
  phaseSpec,
  startProject,
  untilProject,
} from '../support/fixtures/projects.ts';
import { eventually } from '../support/service/service.ts';
import { testAccessibility } from '../support/console/accessible.ts';
import { describeConsole } from '../support/console/stage.ts';
import { isWiderThanItsWindow, PHONE } from '../support/console/browser.ts';

await describeConsole('acts', {}, (stage) => {
  const { show } = stage;
  beforeAll(async () => {
    await makeTemplate(stage.acme, 'story', [
      phaseSpec('research', [agentStep('look')]),
      phaseSpec('text', [agentStep('write'), gateStep('approve')], { depends_on: ['research'] }),
      phaseSpec('page', [agentStep('build')], { depends_on: ['text'] }),
    ]);
  });

  const read = async (path: string) => (await stage.acme.cp('GET', path)).body;
  const isWaiting = (id: string) =>
    eventually(async () => expect((await read(`/v1/inbox?project_id=${id}`)).data).toHaveLength(1));
  const started = async (more = {}): Promise<string> => {
    const id = await startProject(stage.acme, 'story', more);
    await isWaiting(id);
    return id;
  };

  // Guards: a project that waits for somebody who has nothing but a phone.
  test('a project is approved on a phone, and completes', async () => {
    const id = await started();
    const { tab, open } = await show(PHONE);
    await open(`/projects/${id}`);
    await tab.getByRole('button', { name: 'Approve' }).click();
    await untilProject(stage.acme, id, 'completed');
    expect(await isWiderThanItsWindow(tab)).toBe(false);
  });

  // Guards: where the time went; what a resume runs and costs before it is given; a budget raised where work has stopped.
  test('a paused project says what going on costs, and goes on with a larger budget', async () => {
    const id = await started({ cost_budget_usd: '3' });
    await stage.acme.cp('POST', `/v1/projects/${id}/pause`);
    const { tab, open } = await show();
    await open(`/projects/${id}`);
    await tab.getByText('What decides how long it takes').click();
    await tab
      .getByRole('list', { name: 'Phases by time' })
      .getByText(/waited .* decides/)
      .waitFor();
    await tab.getByRole('button', { name: 'Resume' }).first().click();
    const estimate = tab.getByRole('region', { name: 'What it runs and costs' });
    await estimate.getByText('2 phases will run').waitFor();
    await estimate.getByText(/Together about \$0\./).waitFor();
    await estimate.getByText(/of the budget is left/).waitFor();
    await tab.getByRole('dialog').getByRole('button', { name: 'Keep it as it is' }).click();
    expect(await read(`/v1/projects/${id}`)).toMatchObject({ status: 'paused' });
    await tab.getByRole('button', { name: 'Change the budget' }).click();
    await tab.getByRole('dialog').getByLabel('Budget, US dollars').fill('7.5');
    await tab.getByRole('button', { name: 'Change it and go on' }).click();
    await untilProject(stage.acme, id, 'active');
    expect(await read(`/v1/projects/${id}`)).toMatchObject({ cost_budget_usd: '7.5' });
  });

  // Guards: a change asked for in words: planned, seen, and thrown away without anything being changed.
  test('changes are asked for, the plan is read and discarded', async () => {
    const id = await started();
    const { tab, open } = await show();
    await open(`/projects/${id}`);
    await tab.getByRole('button', { name: 'Ask for changes' }).click();
    const dialog = tab.getByRole('dialog', { name: 'Ask for changes' });
    await dialog.getByLabel('What should be different').fill('Tell it shorter.');
    await dialog.getByRole('button', { name: 'Have a plan made' }).click();
    const asked = tab.getByRole('region', { name: 'Changes asked for' });
    await asked.getByText('Edit: Tell it shorter.').waitFor();
    await tab.getByRole('region', { name: 'The plan' }).waitFor();
    await asked.getByRole('button', { name: 'Discard', exact: true }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Discard it' }).click();
    await asked.getByRole('button', { name: 'Discard', exact: true }).waitFor({ state: 'detached' });
    const { data } = await read(`/v1/projects/${id}/tasks`);
    const session = data.find(({ task_kind: kind }: { task_kind: string }) => kind === 'edit_session');
    expect(session.status).not.toBe('blocked');
    const { data: artifacts } = await read(`/v1/projects/${id}/artifacts?current_only=false`);
    expect(artifacts.filter(({ produced_via: via }: { produced_via: string }) => via === 'edit_session')).toEqual([]);
  });

  // Guards: who asked for the wrong thing need not wait for a plan of it.
  test('a plan is discarded while it is being made', async () => {
    const id = await started();
    const { tab, open } = await show();
    await open(`/projects/${id}`);
    await tab.getByRole('button', { name: 'Ask for changes' }).click();
    const dialog = tab.getByRole('dialog', { name: 'Ask for changes' });
    await dialog.getByLabel('What should be different').fill('Tell it shorter. [[sleep:60000]]');
    await dialog.getByRole('button', { name: 'Have a plan made' }).click();
    const asked = tab.getByRole('region', { name: 'Changes asked for' });
    await asked.getByText('Running').waitFor();
    await asked.getByRole('button', { name: 'Discard', exact: true }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Discard it' }).click();
    await asked.getByText('Skipped').waitFor();
    await asked.getByRole('button', { name: 'Discard', exact: true }).waitFor({ state: 'detached' });
    await eventually(async () => {
      const { data } = await read('/v1/runs/search?status=running');
      expect(data).toEqual([]);
    });
  });

  // Guards: files chosen before there is a project are beside it when it starts; others are added on its page.
  test('a project is started with a file, and given another', async () => {
    const { tab, open } = await show();
    await open('/projects/new?workflow=story');
    await tab.getByLabel('Brief').fill('Tell the story of bread.');
    const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('Rye, salt, water.') });
    await tab.getByLabel('Files', { exact: true }).setInputFiles(file('recipe.txt'));
    const asked = tab.waitForRequest((request) => request.url().endsWith('/v1/projects'));
    await tab.getByRole('button', { name: 'Start the project' }).click();
    // It is there before the project is: the request that makes the project names it.
    expect((await asked).postDataJSON()).toMatchObject({ attachment_ids: [expect.any(String)] });
    await tab.waitForURL(/\/projects\/tell-/);
    const id = new URL(tab.url()).pathname.split('/').at(-1);
    // Its address is there before the page is, and the form has a field of that name too.
    await tab.locator('summary').filter({ hasText: 'Files' }).click();
    await tab.getByRole('link', { name: 'recipe.txt' }).waitFor();
    await tab.getByText('text of 17 characters').waitFor();
    const scan = { name: 'scan.pdf', mimeType: 'application/pdf', buffer: pdfOfPages(['']) };
    await tab.getByLabel('Add files').setInputFiles([file('oven.txt'), scan]);
    await tab.getByRole('button', { name: 'Add 2 files' }).click();
    await tab.getByRole('link', { name: 'oven.txt' }).waitFor();
    // What no agent can read is said at once, and beside the file.
    await tab.getByText(/^scan.pdf cannot be read: its page has no text/).waitFor();
    await tab.getByText(/^cannot be read: its page has no text/).waitFor();
    const { data } = await read(`/v1/projects/${id}/attachments`);
    expect(data.map(({ filename }: { filename: string }) => filename)).toEqual(['recipe.txt', 'oven.txt', 'scan.pdf']);
  });

  // Guards against: a page that goes away for a moment when a wait arrives, with all that somebody has opened and written.
  test('what is opened on a page stays so while another wait arrives', async () => {
    const id = await started();
    const { tab, open } = await show();
    await open(`/projects/${id}`);
    await tab.locator('summary').filter({ hasText: 'Files' }).click();
    const field = tab.getByLabel('Add files');
    await field.setInputFiles({ name: 'oven.txt', mimeType: 'text/plain', buffer: Buffer.from('Hot') });
    const isAsked = Promise.withResolvers<void>();
    const isTold = Promise.withResolvers<void>();
    const first: string = (await read(`/v1/inbox?project_id=${id}`)).data[0].id;
    await tab.route(/\/v1\/inbox\/[^?/]+$/, async (route) => {
      if (!route.request().url().endsWith(first)) {
        isAsked.resolve();
        await isTold.promise;
      }
      await route.continue();
    });
    await stage.acme.cp('POST', `/v1/inbox/${first}/answer`, { answer: 'reject', comment: 'Shorter', revision: 1 });
    await isAsked.promise;
    expect(await tab.getByRole('list', { name: 'Chosen files' }).getByText('oven.txt').count()).toBe(1);
    isTold.resolve();
    await tab.getByRole('article', { name: /waits for an answer/ }).waitFor();
    expect(await tab.getByRole('list', { name: 'Chosen files' }).getByText('oven.txt').count()).toBe(1);
  });

  // Guards: a run is asked with the text of a file, and what is no text is refused before it is sent.
  test('a run is given the text of a file', async () => {
    const { tab, open } = await show();
    await open('/runs/new?agent=assistant');
    await tab.getByLabel('Prompt').fill('Sum this up');
    const files = tab.getByLabel('Text files');
    await files.setInputFiles({ name: 'cat.png', mimeType: 'image/png', buffer: Buffer.from([0x89, 0x50, 0, 0xff]) });
    await tab.getByRole('alert').getByText('cat.png is no text').waitFor();
    await files.setInputFiles({ name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# Rye is sour') });
    await tab.getByRole('list', { name: 'Chosen files' }).getByText('notes.md').waitFor();
    await tab.getByRole('button', { name: 'Start the run' }).click();
    await tab.waitForURL(/\/runs\/(?!new)/);
    const { prompt } = await read(`/v1/runs/${new URL(tab.url()).pathname.split('/').at(-1)}/summary`);
    expect(prompt).toBe('Sum this up\n\nFile notes.md:\n\n# Rye is sour');
  });

  // Guards: many runs at once are stopped and begun again from the list, and why they failed is told once for all of them.
  test('runs are cancelled and tried again together', async () => {
    const slow = await Promise.all(
      ['one', 'two'].map((n) => dispatch(stage.acme, { agent: 'assistant', prompt: `Slow ${n} [[sleep:60000]]` })),
    );
    const failed = await dispatch(stage.acme, { agent: 'assistant', prompt: 'Break [[fail-status:400]]' });
    await untilStatus(stage.acme, failed, 'failed');
    const { tab, open } = await show();
    await open('/runs');
    await tab.getByRole('button', { name: 'Choose several' }).click();
    for (const id of slow) await tab.getByRole('checkbox', { name: new RegExp(id.slice(-8)) }).check();
    const chosen = tab.getByRole('toolbar', { name: 'Chosen runs' });
    await chosen.getByRole('button', { name: 'Cancel 2' }).click();
    await tab.getByRole('dialog', { name: 'Cancel 2 runs?' }).getByRole('button', { name: 'Cancel them' }).click();
    for (const id of slow) await untilStatus(stage.acme, id, 'cancelled');
    await tab.getByText('2 runs cancelled').waitFor();

    await open('/runs?status=failed');
    const why = tab.getByRole('list', { name: 'Why they failed' });
    await why.getByRole('button', { name: 'Run 1 run again' }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Run them again' }).click();
    await eventually(async () => {
      const { data } = await read('/v1/runs/search?q=Break&status=failed');
      expect(data).toHaveLength(2);
    });
  });

  // Guards: pictures are compared by eye, side by side, and a script in one never runs in the console's origin.
  test('two versions of a picture are shown side by side', async () => {
    const id = await started();
    const svg = (colour: string) =>
      JSON.stringify(
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="top.hasRun=true"><rect width="9" height="9" fill="${colour}"/></svg>`,
      );
    await stage.service.runtime.db.rows(sql`
      with task as (select id from tasks where project_id = ${id} and phase_slug = 'research')
      update artifacts set content = ${svg('red')}::jsonb, superseded = true where task_id = (select id from task)`);
    await stage.service.runtime.db.rows(sql`
      insert into artifacts (id, project_id, task_id, customer_id, phase_slug, version, schema_slug, content, produced_via)
      select gen_random_uuid(), project_id, task_id, customer_id, phase_slug, 2, schema_slug, ${svg('blue')}::jsonb, 'manual_rework'
      from artifacts where project_id = ${id} and phase_slug = 'research'`);
    const { tab, open, complaints } = await show({ viewport: { width: 900, height: 800 } });
    await open(`/projects/${id}?phase=research&v=2&vs=1`);
    const both = tab.getByRole('group', { name: 'Pictures of v1 and v2' }).getByRole('img');
    await both.nth(1).waitFor();
    await eventually(async () => {
      const loaded = `[...document.querySelectorAll('[aria-label^="Pictures of"] img')].filter((image) => image.naturalWidth > 0).length`;
      expect(await tab.evaluate(loaded)).toBe(2);
    });
    expect(await tab.evaluate('globalThis.hasRun')).toBeUndefined();
    expect(await isWiderThanItsWindow(tab)).toBe(false);
    expect(complaints).toEqual([]);
  });

  // Guards: the command beside what is shown, which is copied and does not run.
  test('the curl command of a page answers what the page shows', async () => {
    await stage.acme.run({ agent: 'assistant', prompt: "It's the one to find" });
    const { tab, open } = await show();
    await open("/runs?q=It's the one");
    await tab.getByRole('button', { name: 'Copy as' }).click();
    const command = (await tab.getByLabel('curl command', { exact: true }).textContent()) ?? '';
    const { stdout } = await promisify(execFile)('bash', ['-c', command], {
      env: { ...process.env, COOKIE: stage.acme.session },
    });
    const { data }: { data: { prompt: string }[] } = JSON.parse(stdout);
    expect(data.map(({ prompt }) => prompt)).toEqual(["It's the one to find"]);
  });

  // Guards: WCAG 2.2 AA where something is chosen, estimated or asked for; nothing wider than the window.
  testAccessibility(
    stage,
    async () => [
      [`/projects/${await started({ cost_budget_usd: '1' })}`, 'textbox'],
      ['/runs/new', 'textbox'],
      ['/runs?status=failed', 'list'],
      ['/costs', 'table'],
    ],
    { onPhone: 'dark' },
  );
});
