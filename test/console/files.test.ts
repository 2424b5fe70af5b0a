/** What came from files, as the console's workspace page shows it, and the tokens that pipelines bring files with. */
import { expect, test } from '@jest/globals';
import { testAccessibility } from '../support/console/accessible.ts';
import { describeConsole } from '../support/console/stage.ts';
import { call, sessionFor, startTestService } from '../support/service/service.ts';

await describeConsole('files', { start: () => startTestService({ worker: false }) }, (stage) => {
  const { show } = stage;

  // Guards: drift is seen where people look: what was changed by hand since says so, and who brought it.
  test('what came from files says whether it was changed by hand', async () => {
    const manifests = ['scribe', 'keeper'].map((slug) => ({
      kind: 'agent',
      file: `agents/${slug}.yaml`,
      content: { slug, prompt: 'You write.' },
    }));
    const applied = await stage.acme.cp('POST', '/v1/manifests/apply', { manifests, revision: 'abc123' });
    expect(applied.status).toBe(200);
    await stage.acme.cp('PATCH', '/v1/agents/scribe', { description: 'By hand' });
    const { tab, open, complaints } = await show();
    await open('/workspace');
    await tab.getByRole('tab', { name: 'From files' }).click();
    await tab.getByRole('row', { name: /keeper As applied/ }).waitFor();
    await tab.getByRole('row', { name: /scribe Changed by hand/ }).waitFor();
    await tab.getByRole('link', { name: 'scribe' }).click();
    await tab.getByText('the next apply puts it back').waitFor();
    await tab.getByText('abc123').waitFor();
    expect(complaints).toEqual([]);
  });

  // Guards: a token is made, shown once and revoked without a terminal, and is not offered to whoever may not make one.
  test('a deploy token is made and revoked', async () => {
    const { tab, open } = await show();
    await open('/workspace?tab=tokens');
    await tab.getByRole('button', { name: 'New token' }).click();
    const form = tab.getByRole('dialog', { name: 'New token' });
    await form.getByLabel('Name').fill('github');
    await form.getByRole('button', { name: 'New token' }).click();
    const shown = tab.getByRole('dialog', { name: 'The token github' });
    const token = await shown
      .getByText(/^ey[\w-]+\.[\w-]+$/)
      .first()
      .textContent();
    await shown.getByRole('button', { name: 'I have kept it' }).click();
    const plan = () =>
      call(`${stage.service.baseUrl}/api/v1/cp/v1/manifests`, 'GET', { cookie: `service_session=${token}` });
    expect((await plan()).status).toBe(200);
    await tab.getByRole('link', { name: 'github' }).click();
    await tab.getByRole('button', { name: 'Revoke' }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await tab.getByRole('row', { name: /github Off/ }).waitFor();
    expect((await plan()).status).toBe(401);

    const member = { ...stage.acme, session: sessionFor(stage.acme.caller, 'member') };
    const theirs = await show({}, member);
    await theirs.open('/workspace');
    await theirs.tab.getByRole('tab', { name: 'From files' }).waitFor();
    expect(await theirs.tab.getByRole('tab', { name: 'Deploy tokens' }).count()).toBe(0);
  });

  // Guards: WCAG 2.2 AA on each view, in both themes, at a desk and on a phone; nothing wider than the window.
  testAccessibility(stage, async () => [
    ['/workspace?tab=files', 'table'],
    ['/workspace?tab=tokens', 'table'],
  ]);
});
