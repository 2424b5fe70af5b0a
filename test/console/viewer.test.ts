/** A viewer sees what a member sees, and no button that would be refused. */
import { afterAll, expect, test } from '@jest/globals';
import type { Page as Tab } from 'playwright-core';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { makeBelongings } from '../support/fixtures/belongings.ts';
import { sessionFor, startTestService } from '../support/service/service.ts';
import { isDrawn } from '../support/runner/sizes.ts';
import { describeConsole } from '../support/console/stage.ts';
import { present } from '../../src/platform/core/present.ts';

let receiver: WebhookReceiver | undefined;
const start = async () => {
  receiver = await startWebhookReceiver();
  return startTestService({ env: { EGRESS_ALLOWLIST: receiver.hostAndPort, WEBHOOK_ALLOW_HTTP: 'true' } });
};

const SOME = [
  '/console/catalog?id=own',
  '/console/catalog?id=own&tab=tools',
  '/console/inbox/*?',
  '/console/projects/*?phase',
  '/console/runs/*?',
  '/console/schedules?id',
  '/console/webhooks?id',
  '/console/webhooks?id&tab=destinations',
  '/console/workspace?id&tab=members',
  '/console/workspace?id&tab=keys',
  '/console/workspace?id&tab=integrations',
];

const MARK = 'seen';

/** Which pages there are is seen only on the way, so each kind draws for itself: one in four. */
const isPressed = (kind: string): boolean => isDrawn(`kinds of controls that a viewer presses: ${kind}`, 4);

/** How much the page has asked for, and whether it waits for some of it where that would be seen. */
const STATE = `[performance.getEntriesByType('resource').length,
  [...document.querySelectorAll('.skeleton')].some((part) => part.checkVisibility())]`;

/** Every run and every project is a page of the same kind; the views of a page are not, nor is what the workspace made. */
const kindOf = (address: string): string => {
  const { pathname, searchParams } = new URL(address);
  const parts = pathname.split('/').map((part) => (/\d/.test(part) || part.length > 14 ? '*' : part));
  const values = [...searchParams].map(([name, value]) =>
    name === 'tab' ? `tab=${value}` : value.includes(MARK) ? `${name}=own` : name,
  );
  return `${parts.join('/')}?${values.sort().join('&')}`;
};

/** A kind without its view. */
const pageOf = (kind: string): string => kind.replace(/&?tab=[^&]*/, '');

await describeConsole('a viewer', { start }, (stage) => {
  afterAll(() => receiver?.close());

  const links = (tab: Tab) =>
    tab.evaluate<string[]>(`[...document.querySelectorAll('a[href^="/console"]')].map(({ href }) => href)`);
  /** Until the page is there, and everything that it asked for. */
  const loaded = async (tab: Tab) => {
    await tab.locator('#main').waitFor();
    let asked = -1;
    for (let isStill = false; !isStill; await tab.waitForTimeout(100)) {
      const [now = 0, isLoading] = await tab.evaluate<[number, boolean]>(STATE);
      isStill = now === asked && !isLoading;
      asked = now;
    }
  };
  const tabsOf = (tab: Tab) => tab.getByRole('tab').all();

  const unfold = async (tab: Tab) => {
    await tab.evaluate(`for (const part of document.querySelectorAll('#main details')) part.open = true`);
    await loaded(tab);
  };

  /** Looks for what nothing has to be pressed for. @returns what should not have been there */
  async function look(tab: Tab): Promise<string[]> {
    const main = tab.locator('#main');
    const found: string[] = [];
    // A button may be off only because nothing is written yet.
    const fields = main.locator('form:not([role="search"]) :is(textarea, input, select):visible');
    for (const name of await fields.evaluateAll((all) => all.map((each) => each.ariaLabel ?? each.id))) {
      found.push(`a field of a form: ${name}`);
    }
    for (const way of await main.locator('a[href$="/new"]:visible').allInnerTexts()) found.push(`a way to ${way}`);
    return found;
  }

  /** Presses whatever can be pressed on the page. @returns what should not have been there */
  async function pressAll(tab: Tab): Promise<string[]> {
    const address = tab.url();
    const main = tab.locator('#main');
    const buttons = main.locator('button:visible:enabled:not([role="tab"])');
    const names = await buttons.evaluateAll((all) => all.map((each) => each.textContent.trim() || each.ariaLabel));
    const found: string[] = [];
    for (const name of new Set(names)) {
      const button = main.getByRole('button', { name: present(name), exact: true }).first();
      // What another button has led away from, or is off by now, is found where it stands.
      if (!(await button.isVisible()) || (await button.isDisabled())) continue;
      await button.click({ timeout: 2_000 }).catch(() => undefined);
      const isAsking = (await tab.locator('dialog[open]').count()) > 0;
      // A form is made of what the service says of it, which is asked for first.
      if (isAsking) await loaded(tab);
      if ((await tab.locator('dialog[open] button[type="submit"]').count()) > 0) found.push(`a form behind ${name}`);
      if (isAsking) await tab.keyboard.press('Escape');
      if (tab.url() === address) continue;
      await tab.goto(address);
      await loaded(tab);
      await unfold(tab);
    }
    return found;
  }

  // Guards: whoever only looks is not offered what would be refused. It goes wherever a link or a view leads, on every
  // kind of page, and presses all that there is; where a run draws, on some of them.
  test('presses every button that there is, and nothing is refused', async () => {
    await makeBelongings(stage.service, stage.acme, present(receiver), MARK);
    const viewer = { ...stage.acme.caller, actor: 'viewer@acme.example' };
    const { tab, open } = await stage.show({}, { session: sessionFor(viewer, 'viewer') });
    const faults: string[] = [];
    tab.on('request', (request) => {
      if (request.method() !== 'GET')
        faults.push(`${new URL(tab.url()).pathname}: ${request.method()} ${request.url()}`);
    });
    tab.setDefaultTimeout(10_000);
    await open('/runs');
    await tab.getByRole('navigation').first().waitFor();
    const left = [...(await links(tab)), new URL('/console/welcome', tab.url()).href];
    const seen = new Set<string>();
    const viewed = new Set<string>();
    for (let address = left.shift(); address !== undefined; address = left.shift()) {
      const kind = kindOf(address);
      if (seen.has(kind)) continue;
      seen.add(kind);
      await tab.goto(address);
      await loaded(tab);
      left.push(...(await links(tab)));
      // The views of a page are the same from each of them.
      const views = viewed.has(pageOf(kind)) ? [] : await tabsOf(tab);
      viewed.add(pageOf(kind));
      for (const view of views) {
        await view.click();
        left.push(tab.url());
      }
      if (views.length > 0) {
        await tab.goto(address);
        await loaded(tab);
      }
      await unfold(tab);
      const found = await look(tab);
      if (isPressed(kind)) found.push(...(await pressAll(tab)));
      for (const fault of found) faults.push(`${address}: ${fault}`);
    }
    expect([...new Set(faults)]).toEqual([]);
    // It was everywhere: a pane of each list, a view of each page.
    for (const kind of SOME) expect([...seen]).toContain(kind);
  }, 600_000);
});
