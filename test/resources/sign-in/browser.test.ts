/** Sign-in as a person has it: in a real browser, by mouse and keyboard. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Page as Tab } from 'playwright-core';
import { launchBrowser } from '../../support/programs/chromium.ts';
import { isMissing, reasonOf } from '../../support/programs/missing.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';
import { addMember, openInbox } from './people.ts';

const launched = launchBrowser();
const isWithout = isMissing('sign-in in a browser', await reasonOf(launched));

(isWithout ? describe.skip : describe)('in a browser', () => {
  let service: TestService;
  let browser: Browser;
  const inbox = openInbox();
  let tab: Tab;
  /** What the browser complains of: a policy that refuses something, an error of a page. */
  let complaints: string[];

  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService({ worker: false, log: inbox.log }), launched]);
    for (const id of ['acc_acme', 'acc_second']) await service.tenant(id);
    await addMember(service, 'acme', 'ana@acme.example');
    await addMember(service, 'acme', 'bob@acme.example');
    await addMember(service, 'second', 'bob@acme.example', 'member');
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });
  beforeEach(async () => {
    tab = await browser.newPage();
    complaints = [];
    tab.on('console', (message) => complaints.push(message.text()));
    tab.on('pageerror', ({ message }) => complaints.push(message));
  });
  afterEach(() => tab?.close());

  const heading = (name: string) => tab.getByRole('heading', { name }).waitFor({ timeout: 10_000 });
  const codeFor = async () => {
    const id = await tab.locator('input[name=challenge_id]').inputValue();
    return inbox.codeOf(id);
  };
  async function enterCode(email: string) {
    await tab.getByLabel('E-mail address').fill(email);
    await tab.keyboard.press('Enter');
    await heading('Enter the code');
    await tab.getByLabel('Six-digit code').fill(await codeFor());
    await tab.keyboard.press('Enter');
  }

  // Guards: a browser can post the forms under the pages' own policies: its origin is accepted and nothing is refused.
  test('a member signs in, is led to where she wanted, and signs out', async () => {
    await tab.goto(`${service.baseUrl}/login?next=/docs`);
    await enterCode('ana@acme.example');
    await tab.waitForURL('**/docs');
    await tab.goto(`${service.baseUrl}/login`);
    await heading('You are signed in');
    expect(await tab.getByText('ana@acme.example').count()).toBe(1);
    const session = async () => (await tab.context().cookies()).find(({ name }) => name === 'service_session');
    expect(await session()).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
    expect(await tab.evaluate('document.cookie')).toBe('');
    await tab.getByRole('button', { name: 'Sign out', exact: true }).click();
    await heading('You are signed out');
    expect(await session()).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  // Guards: a mistake is shown where it was made, and can be corrected.
  test('a wrong code is told and corrected', async () => {
    await tab.goto(`${service.baseUrl}/login`);
    await tab.getByLabel('E-mail address').fill('ana@acme.example');
    await tab.getByRole('button', { name: 'Send me a code' }).click();
    await heading('Enter the code');
    const code = await codeFor();
    await tab.getByLabel('Six-digit code').fill(code === '000000' ? '111111' : '000000');
    await tab.getByRole('button', { name: 'Sign in' }).click();
    expect(await tab.getByRole('alert').textContent()).toContain('wrong');
    await tab.getByLabel('Six-digit code').fill(code);
    await tab.getByRole('button', { name: 'Sign in' }).click();
    await heading('You are signed in');
  });

  // Guards: a workspace can be chosen by keyboard.
  test('a member of several chooses', async () => {
    await tab.goto(`${service.baseUrl}/login`);
    await enterCode('bob@acme.example');
    await heading('Choose a workspace');
    await tab.getByRole('radio', { name: 'acc_second (member)' }).check();
    await tab.getByRole('button', { name: 'Continue' }).click();
    await heading('You are signed in');
    expect(await tab.getByText('acc_second').count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  // Guards against: pages that do not fit a phone.
  test('nothing is wider than a small screen', async () => {
    await tab.setViewportSize({ width: 320, height: 640 });
    await tab.goto(`${service.baseUrl}/login`);
    const widths = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
    expect(await tab.evaluate(widths)).toBe(true);
    await enterCode('ana@acme.example');
    await heading('You are signed in');
    expect(await tab.evaluate(widths)).toBe(true);
  });
});
