/** Projects in the console, as a person has them: started, waited for, approved on a phone, done again. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../support/programs/chromium.ts';
import { isMissing, reasonOf } from '../support/programs/missing.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { expectAccessible } from './accessible.ts';
import { isWiderThanItsWindow, openConsole, PHONE, type ConsoleTab } from './browser.ts';

const launched = launchBrowser();
const isWithout = isMissing('projects of the console in a browser', await reasonOf(launched));
const BRIEF = 'Why small teams should write their decisions down';

(isWithout ? describe.skip : describe)('projects', () => {
  let service: TestService;
  let browser: Browser;
  let acme: Tenant;
  let opened: ConsoleTab;
  const show = async (options = {}) => (opened = await openConsole(browser, service, acme, options));

  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), launched]);
    acme = await service.tenant('acc_acme');
  }, 90_000);
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });
  afterEach(() => opened?.context.close());

  const isWaiting = (id: string) =>
    eventually(async () => {
      const { body } = await acme.cp('GET', `/v1/projects/${id}/tasks`);
      expect(body.data.map(({ status }: { status: string }) => status)).toContain('blocked');
    });
  const started = async (): Promise<string> => {
    const { body } = await acme.cp('POST', '/v1/projects', {
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
      const { body } = await acme.cp('GET', `/v1/projects/${id}/events?limit=200`);
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

  describe.each([
    ['light', {}],
    ['dark', {}],
    ['light', PHONE],
  ] as const)('in the %s theme', (colorScheme, device) => {
    // Guards: WCAG 2.2 AA on each page, in both themes and on a phone; nothing wider than the window.
    test(`axe finds nothing${device === PHONE ? ' on a phone' : ''}`, async () => {
      const id = await started();
      const shown = await show({ ...device, colorScheme });
      const pages: readonly [path: string, shown: string][] = [
        ['/projects', 'link'],
        ['/projects/new?workflow=blog-post', 'textbox'],
        [`/projects/${id}`, 'textbox'],
        [`/projects/${id}?phase=outline&v=1`, 'combobox'],
      ];
      await expectAccessible(shown, pages);
    });
  });
});
