/**
 * What a person does who has the address of the service and nothing else: no documentation, no terminal. Pictures of it
 * are kept where `PICTURES` names a folder (`npm run docs:pictures`).
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page as Tab } from 'playwright-core';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { present } from '../../src/platform/core/present.ts';
import { startTestService } from '../support/service/service.ts';
import { addMember, openInbox } from '../resources/sign-in/people.ts';
import { isWiderThanItsWindow, openConsole, PHONE, type ConsoleTab } from '../support/console/browser.ts';
import { describeConsole } from '../support/console/stage.ts';

const FOLDER = process.env.PICTURES;
/** These stand in `docs/guide/console.md`. */
const KEPT = ['start', 'waits', 'approve', 'costs-why', 'webhook', 'invited', 'key-code'];
/** A target for a finger, in px (`shared/design/console.md`). */
const FINGER = 44;

let receiver: WebhookReceiver | undefined;
let isTaking = false;
const mails = openInbox();
const start = async () => {
  receiver = await startWebhookReceiver(() => (isTaking ? 200 : { status: 500, body: 'The database is down' }));
  const env = { EGRESS_ALLOWLIST: receiver.hostAndPort, WEBHOOK_ALLOW_HTTP: 'true' };
  return startTestService({ env, log: mails.log });
};

await describeConsole('who has the address and nothing else', { start }, (stage) => {
  // Both stay open from one deed to the next.
  let desk: ConsoleTab;
  let phone: ConsoleTab;
  beforeAll(async () => {
    await addMember(stage.service, 'acme', 'ana@acme.example');
    desk = await openConsole(stage.browser, stage.service);
    phone = await openConsole(stage.browser, stage.service, undefined, { ...PHONE, colorScheme: 'dark' });
    if (FOLDER) await mkdir(FOLDER, { recursive: true });
  });
  afterAll(() => receiver?.close());

  /** Looks at a page at the end of a deed: it fits, nothing was refused, and its picture is kept. */
  async function look(name: string, { tab, complaints }: ConsoleTab): Promise<void> {
    expect([name, await isWiderThanItsWindow(tab), complaints]).toEqual([name, false, []]);
    if (FOLDER && KEPT.includes(name)) await tab.screenshot({ path: join(FOLDER, `first-${name}.png`) });
  }

  /** Types the address of a member, and the code that stands where the page says. */
  async function signIn({ tab, complaints }: ConsoleTab): Promise<void> {
    await tab.goto(stage.service.baseUrl);
    await tab.getByText('the code is a line of the log of the service').waitFor();
    await tab.getByLabel('E-mail address').fill('ana@acme.example');
    await tab.keyboard.press('Enter');
    const challenge = await tab.locator('input[name=challenge_id]').inputValue();
    await tab.getByLabel('Six-digit code').fill(await mails.codeOf(challenge));
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'The first five minutes' }).waitFor();
    // Whoever is not signed in yet is led to sign-in by a 401, which browsers note.
    complaints.length = 0;
  }
  const visit = (tab: Tab, name: string) =>
    tab.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).first().click();

  // Guards: the way in is on the page, also where no mail server is set; an empty workspace shows what to begin with.
  test('signs in, at a desk and on a phone', async () => {
    await signIn(desk);
    await look('welcome', desk);
    await signIn(phone);
    await look('welcome-phone', phone);
    await visit(phone.tab, 'Runs');
    await phone.tab.getByRole('heading', { name: 'No runs yet' }).waitFor();
    await look('empty-phone', phone);
  });

  // Guards: a project is started from its form, and the list and its page say that it waits, for whom and since when.
  test('starts a project, and sees why it waits', async () => {
    const { tab } = desk;
    await visit(tab, 'Projects');
    await tab.getByRole('link', { name: 'Start a blog post' }).click();
    await tab.getByLabel('Brief').fill('Why small teams should write their decisions down');
    await look('start', desk);
    await tab.getByRole('button', { name: 'Start the project' }).click();
    await tab.getByRole('heading', { level: 1, name: /Waiting/ }).waitFor();
    await tab.getByText('Read the draft.').first().waitFor();
    await look('waits', desk);
    await visit(tab, 'Projects');
    const row = tab.getByRole('list', { name: 'Projects' }).getByRole('link');
    await row.getByText('Approval: Read the draft.').waitFor();
    await row.getByText('Waiting').first().waitFor();
    await look('projects', desk);
  });

  // Guards: an approval with a thumb, whose outcome is seen where the thumb is; the desk follows.
  test('approves it on a phone', async () => {
    const { tab } = phone;
    await visit(tab, 'Inbox');
    await tab.getByRole('list', { name: 'Waits' }).getByRole('link').first().click();
    const approve = tab.getByRole('button', { name: 'Approve' });
    expect((await approve.boundingBox())?.height).toBeGreaterThanOrEqual(FINGER);
    await approve.scrollIntoViewIfNeeded();
    await look('approve', phone);
    await approve.click();
    const outcome = tab.getByText('ana@acme.example approved');
    await outcome.waitFor();
    await look('approved', phone);
    await desk.tab.getByRole('list', { name: 'Projects' }).getByText('Completed').first().waitFor();
  });

  // Guards: from the sum to the project, to the phase, to the step, to the run that cost it.
  test('finds what it cost and why', async () => {
    const { tab } = desk;
    await visit(tab, 'Costs');
    await tab.getByRole('button', { name: 'By project' }).click();
    await tab.getByRole('link', { name: /^why-small-teams/ }).waitFor();
    await look('costs', desk);
    await tab.getByRole('link', { name: /^why-small-teams/ }).click();
    await tab.getByRole('link', { name: /Draft and approval/ }).click();
    await tab.getByText('Write the draft').click();
    await tab.getByText('attempt 1').first().waitFor();
    await look('costs-why', desk);
    await tab.getByRole('link', { name: 'run', exact: true }).first().click();
    await tab.getByRole('complementary', { name: 'Facts' }).getByText('Spent').waitFor();
    await tab.getByRole('tab', { name: 'Context window' }).click();
    await tab.getByRole('table').first().waitFor();
  });

  // Guards: a webhook that fails is seen failing while it is still tried, with what was answered, and is sent again at once.
  test('sees a webhook fail, and sends it again', async () => {
    const { tab } = desk;
    await visit(tab, 'Webhooks');
    await tab.getByRole('button', { name: 'New endpoint' }).click();
    const form = tab.getByRole('dialog', { name: 'New endpoint' });
    await form.getByRole('textbox', { name: 'URL' }).fill(present(receiver).url);
    await form.getByRole('button', { name: 'New endpoint' }).click();
    await tab.getByRole('button', { name: 'I have kept it' }).click();
    await visit(tab, 'Runs');
    await tab.getByRole('link', { name: 'New run' }).click();
    await tab.getByLabel('Prompt').fill('Tell the world');
    await tab.getByLabel('Agent').selectOption('assistant');
    await tab.getByRole('button', { name: 'Start the run' }).click();
    await tab.getByRole('heading', { level: 1, name: /Succeeded/ }).waitFor();
    await visit(tab, 'Webhooks');
    await tab.getByRole('link', { name: present(receiver).url }).click();
    const delivery = tab.getByRole('list', { name: 'Deliveries' }).getByRole('listitem').first();
    await delivery.getByText('Retrying').click();
    await delivery.getByText('The database is down').waitFor();
    await look('webhook', desk);
    isTaking = true;
    await delivery.getByRole('button', { name: 'Send again' }).click();
    await delivery.getByText('Delivered').waitFor();
    expect(present(receiver).received.at(-1)?.body).toContain('run.succeeded');
  });

  // Guards: whoever invites learns how the colleague gets in.
  test('invites a colleague', async () => {
    const { tab } = desk;
    await visit(tab, 'Workspace');
    await tab.getByRole('button', { name: 'Invite' }).click();
    const form = tab.getByRole('dialog', { name: 'Invite' });
    await form.getByLabel('Email').fill('ben@acme.example');
    await form.getByRole('button', { name: 'Invite' }).click();
    const invited = tab.getByRole('dialog', { name: 'ben@acme.example may sign in now' });
    await invited.getByText(`${stage.service.baseUrl}/console`).waitFor();
    await look('invited', desk);
    await invited.getByRole('button', { name: 'Done' }).click();
    await tab.getByRole('row', { name: /ben@acme.example/ }).waitFor();
  });

  // Guards: the sign that says "offline model" leads to the key, and goes once there is one.
  test('puts a model key in', async () => {
    const { tab, complaints } = desk;
    await tab.getByRole('link', { name: /Offline model/ }).click();
    await tab.getByRole('link', { name: 'Anthropic' }).click();
    await tab.getByLabel('API key').fill('sk-ant-of-the-first-hour');
    const demanded = tab.waitForResponse((response) => response.status() === 403);
    await tab.getByRole('button', { name: 'Set', exact: true }).click();
    const { detail }: { detail: { challenge_id: string } } = await (await demanded).json();
    const box = tab.getByRole('dialog', { name: 'Confirm with a code' });
    await box.getByText('so the code is the line with event "mail" in the log of the service').waitFor();
    await box.getByLabel('Code').fill(await mails.codeOf(detail.challenge_id));
    // Browsers note each answer that is no success, and that a code is wanted is one.
    complaints.length = 0;
    await look('key-code', desk);
    await box.getByRole('button', { name: 'Confirm' }).click();
    await tab.getByRole('button', { name: 'Replace' }).waitFor();
    await tab.getByRole('link', { name: /Offline model/ }).waitFor({ state: 'detached' });
    await look('key', desk);
  });
});
