/** The page of an action link on a phone: a real browser, 390 pixels wide, without scripts. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page as Tab } from 'playwright-core';
import { present } from '../../../src/platform/core/present.ts';
import { agentStep, makeTemplate, phaseSpec, startProject, untilProject } from '../../support/fixtures/projects.ts';
import { launchBrowser } from '../../support/programs/chromium.ts';
import { isMissing, reasonOf } from '../../support/programs/missing.ts';
import { codeOf, mailbox } from '../../support/service/otp.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { asks, ASKER_AGENT, detailOf, makeGates, memberOf, startAtGate, untilWait } from './waits.ts';

const launched = launchBrowser();
const isWithout = isMissing('action links in a browser', await reasonOf(launched));
const ANA = 'ana@acme.example';
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

(isWithout ? describe.skip : describe)('on a phone', () => {
  let service: TestService;
  let acme: Tenant;
  let browser: Browser;
  let context: BrowserContext;
  let tab: Tab;
  beforeAll(async () => {
    const log = createLog({ level: 'debug', pretty: false, destination: mailbox });
    [service, browser] = await Promise.all([startTestService({ log }), launched]);
    acme = await service.tenant('acc_phone');
    await memberOf(service, acme, ANA);
    await acme.cp('POST', '/v1/agents', ASKER_AGENT);
    await makeGates(acme, { open: { prompt: 'Is it good?' } });
    await makeTemplate(acme, 'poor', [phaseSpec('text', [agentStep('write')])]);
    context = await browser.newContext({ ...PHONE, javaScriptEnabled: false });
  });
  afterEach(() => tab?.close());
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  async function addressOf({ id: waitId, revision }: { id: string; revision: number }): Promise<string> {
    const link = { customerId: acme.caller.customerId, waitId, revision, recipient: ANA };
    return service.baseUrl + new URL(present(await service.services.actionLinks.issue(link)).url).pathname;
  }
  const open = async (wait: { id: string; revision: number }): Promise<void> => {
    tab = await context.newPage();
    await tab.goto(await addressOf(wait));
  };

  // Guards: opening decides nothing; a tap on a button does, in the name of whoever was mailed the link, and says so.
  test('a gate is approved by a tap', async () => {
    const { id, wait } = await startAtGate(acme, 'open');
    await open(wait);
    expect(await tab.getByRole('heading').textContent()).toBe('Is it good?');
    expect(await detailOf(acme, wait.id)).toMatchObject({ status: 'open' });
    await tab.getByLabel('Comment').fill('Lovely');
    await tab.getByRole('button', { name: 'Approve' }).tap();
    expect(await tab.getByRole('status').textContent()).toContain(`Thank you. Answered: approve, by ${ANA}`);
    expect(await detailOf(acme, wait.id)).toMatchObject({ settled_by: ANA, settled_via: 'link', comment: 'Lovely' });
    await untilProject(acme, id, 'completed');
  });

  // Guards: where it is about money a code is asked for in place, and what was filled in is not lost over it.
  test('a budget is raised with a code', async () => {
    const id = await startProject(acme, 'poor', { cost_budget_usd: '0.000001' });
    await open(await untilWait(acme, { project_id: id, kind: 'paused' }));
    await tab.getByLabel('Raise by').fill('5');
    await tab.getByRole('button', { name: 'Raise the budget' }).tap();
    const challenge = present(await tab.locator('input[name=challenge_id]').getAttribute('value'));
    await tab.getByLabel('Code').fill(codeOf(challenge));
    await tab.getByRole('button', { name: 'Confirm' }).tap();
    expect(await tab.getByRole('status').textContent()).toContain('Thank you. Answered: raise_budget');
    await untilProject(acme, id, 'completed');
  });

  // Guards: whatever is asked, nobody has to scroll sideways, and a finger finds the buttons.
  test('a page is as wide as the screen', async () => {
    const question = `Is this the address? https://example.com/${'a-very-long-path'.repeat(30)}`;
    const wait = await untilWait(acme, { run_id: await asks(acme, question, ['yes', `no, ${'w'.repeat(120)}`]) });
    const scripted = await browser.newContext(PHONE);
    tab = await scripted.newPage();
    await tab.goto(await addressOf(wait));
    expect(await tab.evaluate<number>('document.documentElement.scrollWidth')).toBe(390);
    const button = present(await tab.getByRole('button').boundingBox());
    expect(button.height).toBeGreaterThanOrEqual(44);
    expect(button.width).toBeGreaterThan(300);
    await scripted.close();
  });
});
