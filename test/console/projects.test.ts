/**
 * Projects in the console, as a person has them: started, waited for, approved on a phone, done again. And the inbox: what
 * waits, with what is needed to decide, answered by keyboard, on a phone, and by one person only.
 */
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../support/service/service.ts';
import { testAccessibility } from '../support/console/accessible.ts';
import { describeConsole } from '../support/console/stage.ts';
import { isWiderThanItsWindow, PHONE } from '../support/console/browser.ts';

const BRIEF = 'Why small teams should write their decisions down';

await describeConsole('projects and what waits', {}, (stage) => {
  const { show } = stage;

  describe('projects', () => {
    const isWaiting = (id: string) =>
      eventually(async () => {
        const { body } = await stage.acme.cp('GET', `/v1/projects/${id}/tasks`);
        expect(body.data.map(({ status }: { status: string }) => status)).toContain('blocked');
      });
    const started = async (): Promise<string> => {
      const { body } = await stage.acme.cp('POST', '/v1/projects', {
        workflow_slug: 'blog-post',
        brief: BRIEF,
        title: 'Decisions',
      });
      await isWaiting(body.id);
      return body.id as string;
    };

    // Guards: what a person does without a manual: start a project, see why it waits, approve it, and see it end in place.
    test('a project is started from its form and approved to its end without a reload', async () => {
      const { tab, complaints, open } = await show();
      await open('/projects');
      await tab.getByRole('link', { name: 'Start a blog post' }).click();
      await tab.getByLabel('Brief').fill(BRIEF);
      await tab.getByLabel('Length words').fill('600');
      await tab.getByRole('button', { name: 'Start the project' }).click();
      const gate = tab.getByRole('article', { name: /waits for an answer/ });
      await gate.getByRole('button', { name: 'Approve' }).waitFor();
      await gate.getByText('What it is about').waitFor();
      await tab.evaluate('globalThis.isSamePage = true');
      await gate.getByRole('button', { name: 'Approve' }).click();
      await tab.getByRole('heading', { level: 1, name: /Completed/ }).waitFor();
      expect(await tab.evaluate('globalThis.isSamePage')).toBe(true);
      await tab.getByRole('link', { name: /Outline/ }).click();
      await tab.getByRole('region', { name: 'Outline', exact: true }).getByLabel('Version').waitFor();
      expect(new URL(tab.url()).search).toBe('?phase=outline');
      expect(complaints).toEqual([]);
    });

    // Guards: the list is narrowed down by words and age; the address holds it, and what is found by nothing says so.
    test('a project is found by its words', async () => {
      const make = (title: string) =>
        stage.acme.cp('POST', '/v1/projects', { workflow_slug: 'blog-post', brief: BRIEF, title });
      await make('Kumquats for all');
      await make('Nothing of the kind');
      const { tab, complaints, open } = await show();
      await open('/projects');
      const list = tab.getByRole('list', { name: 'Projects' });
      await list.getByRole('link', { name: /Nothing of the kind/ }).waitFor();
      await tab.getByLabel('Search projects by id or words').fill('kumq');
      await list.getByRole('link', { name: /Nothing of the kind/ }).waitFor({ state: 'detached' });
      await list.getByRole('link', { name: /Kumquats for all/ }).waitFor();
      await tab.getByLabel('Age').selectOption('Last hour');
      await tab.waitForURL(/\?q=kumq&hours=1$/);
      await tab.getByRole('button', { name: 'Completed', exact: true }).click();
      await tab.getByText('No project is like this').waitFor();
      await tab.getByRole('button', { name: 'Show all' }).click();
      await list.getByRole('link', { name: /Nothing of the kind/ }).waitFor();
      expect(complaints).toEqual([]);
    });

    // Guards: a gate on a phone, by keyboard: rejected with what should change, which is done, and asked again.
    test('a gate is rejected on a phone and comes again', async () => {
      const id = await started();
      const { tab, open } = await show(PHONE);
      await open(`/projects/${id}`);
      const gate = tab.getByRole('article', { name: /waits for an answer/ });
      await gate.getByLabel('Comment').fill('Shorter, please');
      await gate.getByRole('button', { name: 'Reject' }).focus();
      await tab.keyboard.press('Enter');
      await eventually(async () => {
        const { body } = await stage.acme.cp('GET', `/v1/projects/${id}/events?limit=200`);
        expect(JSON.stringify(body.data)).toContain('Shorter, please');
      });
      await isWaiting(id);
      await gate.getByText(/What it is about: write, attempt 2/).waitFor();
      expect(await isWiderThanItsWindow(tab)).toBe(false);
    });

    // Guards: what will run, become stale and cost is said before the click; versions and how they differ.
    test('a phase is run again, and its versions compared', async () => {
      const id = await started();
      const { tab, open } = await show();
      await open(`/projects/${id}?phase=research`);
      await tab.getByRole('button', { name: 'Run the phase again' }).click();
      const dialog = tab.getByRole('dialog', { name: 'Run Research again?' });
      await dialog.getByText(/Becomes stale, and does not run: .*outline/).waitFor();
      await dialog.getByText(/Together about \$0\.000\d+/).waitFor();
      await dialog.getByLabel('What should be different').fill('Look at larger teams too');
      await dialog.getByRole('button', { name: 'Run it again' }).click();
      const versions = tab.getByRole('region', { name: 'Research', exact: true }).getByLabel('Version');
      await versions.getByText('v2, current').waitFor({ state: 'attached' });
      await tab.getByLabel('compared with').selectOption('1');
      await tab
        .getByRole('group', { name: 'Changes from v1 to v2' })
        .or(tab.getByText('The two are the same.'))
        .waitFor();
      expect(new URL(tab.url()).search).toContain('vs=1');
      await tab
        .getByRole('link', { name: /Outline/ })
        .getByText('Stale')
        .waitFor({ state: 'attached' });
    });

    // Guards: WCAG 2.2 AA on each page, in both themes, at a desk and on a phone; nothing wider than the window.
    testAccessibility(stage, async () => {
      const id = await started();
      return [
        ['/projects', 'link'],
        ['/projects/new?workflow=blog-post', 'textbox'],
        [`/projects/${id}`, 'textbox'],
        [`/projects/${id}?phase=outline&v=1`, 'combobox'],
      ];
    });
  });

  describe('the inbox', () => {
    /** @returns the id of what waits */
    async function waiting(title: string, more: object = {}): Promise<string> {
      const { body } = await stage.acme.cp('POST', '/v1/projects', {
        workflow_slug: 'blog-post',
        brief: 'Why small teams should write their decisions down',
        title,
        ...more,
      });
      return eventually(async () => {
        const { body: page } = await stage.acme.cp('GET', `/v1/inbox?project_id=${body.id}`);
        return page.data[0].id as string;
      });
    }

    // Guards: an approver who never touches a pointer, and sees what was decided, by whom, and what is next.
    test('by keyboard alone: found, looked at, rejected with what should change, and asked again', async () => {
      await waiting('Rejected by keys');
      const { tab, complaints, open } = await show();
      await open('/runs');
      await tab.getByRole('link', { name: /^Inbox/ }).waitFor();
      await tab.locator('#main').focus();
      await tab.keyboard.press('g');
      await tab.keyboard.press('i');
      const row = tab
        .getByRole('list', { name: 'Waits' })
        .getByRole('link', { name: /Rejected by keys/ })
        .first();
      await row.getByText('Rejected by keys').waitFor();
      await tab.keyboard.press('j');
      await tab.keyboard.press('Enter');
      const wait = tab.getByRole('article', { name: /waits for an answer/ });
      await wait.getByText(/What it is about: write/).waitFor();
      await tab.keyboard.press('c');
      await tab.keyboard.type('Shorter, please');
      await tab.keyboard.press('Tab');
      await tab.locator('#main').focus();
      await tab.keyboard.press('r');
      await tab.waitForFunction(`document.activeElement.dataset.answer === 'reject'`);
      await tab.keyboard.press('Enter');
      await tab.getByText(`${stage.acme.caller.actor} rejected`).waitFor();
      await tab.getByText('Shorter, please').first().waitFor();
      await tab.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Inbox' }).click();
      await row.click();
      await wait.getByText(/What it is about: write, attempt 2/).waitFor();
      await wait.getByText('Decided before (1)').waitFor();
      await wait.getByLabel('Only what has changed since the attempt before').first().check();
      await wait
        .getByRole('group', { name: 'Changes from attempt 1 to 2' })
        .or(wait.getByText('The two are the same.'))
        .waitFor();
      expect(complaints).toEqual([]);
    });

    // Guards: two people who decide at once: one counts, and the other is told who that was and what they said.
    test('two browsers answer one gate, and one is told who was first', async () => {
      const id = await waiting('Answered twice');
      const [first, second] = [await show(), await show()];
      // The second one is not told by the stream: its answer is what finds out.
      await second.tab.route('**/v1/live*', (route) => route.abort());
      let isBlind = false;
      await second.tab.route('**/v1/inbox**', (route) => {
        if (route.request().method() === 'POST') isBlind = false;
        return isBlind ? route.abort() : route.continue();
      });
      await Promise.all([first, second].map(({ open }) => open(`/inbox/${id}`)));
      await second.tab.getByRole('button', { name: 'Reject' }).waitFor();
      isBlind = true;
      await first.tab.getByLabel('Comment').fill('Good as it is');
      await first.tab.getByRole('button', { name: 'Approve' }).click();
      await first.tab.getByText(`${stage.acme.caller.actor} approved`).waitFor();
      await second.tab.getByRole('button', { name: 'Reject' }).click();
      const told = second.tab.getByRole('alert');
      await told.getByText(/was faster, and approved/).waitFor();
      await told.getByText('Good as it is').waitFor();
      await eventually(async () => {
        const { body } = await stage.acme.cp('GET', `/v1/inbox/${id}`);
        expect([body.status, body.answer]).toEqual(['settled', 'approve']);
      });
    });

    // Guards: an answer to a draft that nobody has seen: what is wrong is said, and the new one is shown.
    test('what has changed since it was looked at is said, and nothing is decided', async () => {
      const id = await waiting('Changed meanwhile');
      const { tab, open } = await show();
      let isOld = true;
      await tab.route(`**/v1/inbox/${id}/answer`, (route) =>
        route.continue(
          isOld ? { postData: JSON.stringify({ ...(route.request().postDataJSON() as object), revision: 99 }) } : {},
        ),
      );
      await open(`/inbox/${id}`);
      await tab.getByRole('button', { name: 'Approve' }).click();
      await tab
        .getByRole('alert')
        .getByText(/It has changed since you looked/)
        .waitFor();
      isOld = false;
      await tab.getByRole('button', { name: 'Approve' }).click();
      await tab.getByText(`${stage.acme.caller.actor} approved`).waitFor();
    });

    // Guards: a project that has run out of money goes on from the phone, by as much as was said; the badge counts along.
    test('a budget is raised on a phone, while the list and its count follow', async () => {
      const id = await waiting('Out of money', { cost_budget_usd: '0.00001' });
      const { tab, open } = await show(PHONE);
      await open('/inbox?kind=paused');
      await tab.getByRole('link', { name: /Out of money/ }).click();
      await tab.getByRole('table', { name: '1 limit' }).getByRole('cell', { name: 'project' }).waitFor();
      await tab.getByText(/added to the budget of the project/).waitFor();
      await tab.getByText(/At least 0\.\d+\./).waitFor();
      const raise = tab.getByRole('button', { name: 'Raise the budget' });
      expect(await raise.isDisabled()).toBe(true);
      await tab.getByLabel('Raise by, US dollars').fill('2');
      await raise.click();
      await tab.getByText(`${stage.acme.caller.actor} raised the budget`).waitFor();
      const { body } = await stage.acme.cp('GET', `/v1/inbox/${id}`);
      expect(body.answer).toBe('raise_budget');
      await tab.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Inbox' }).click();
      await tab.getByRole('list', { name: 'Waits' }).getByText('Out of money').first().waitFor();
      expect(await isWiderThanItsWindow(tab)).toBe(false);
    });

    // Guards: WCAG 2.2 AA on each page, in both themes, at a desk and on a phone; nothing wider than the window.
    testAccessibility(stage, async () => [
      ['/inbox', 'list'],
      [`/inbox/${await waiting('For axe')}`, 'article'],
      ['/inbox?status=settled', 'list'],
      ['/inbox?kind=lost_effect', 'heading'],
    ]);
  });
});
