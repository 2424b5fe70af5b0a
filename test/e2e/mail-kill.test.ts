/**
 * `kill -9` of the process that sends a mail, at the moment at which the mail server has taken it and has not said so. SMTP
 * cannot be asked what was taken, so the mail is sent again: the guarantee is that it is never lost, and that every copy has one
 * Message-ID, by which a mailbox tells the second from another mail.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { text } from 'node:stream/consumers';
import { NO_STANDING } from '../../src/platform/core/rights.ts';
import { first, itemAt, present } from '../../src/platform/core/present.ts';
import { MAIL_PASSWORD, MAIL_USER, startMailServer, type MailServer } from '../support/fakes/smtp-server.ts';
import { PARTS, prepareProcesses, type Processes } from '../support/processes/processes.ts';
import { eventually, tenantOf, type Tenant } from '../support/service/service.ts';
import { asks, ASKER_AGENT, detailOf, untilWait } from '../resources/inbox/waits.ts';

/** The first owner of the workspace. */
const BOSS = 'boss@agents.example.com';
let mail: MailServer;
let processes: Processes;
let tenant: Tenant;
/** As the server has them on its disk. */
const taken: string[] = [];

beforeAll(async () => {
  mail = await startMailServer({
    onData(stream, _session, done) {
      void (async () => {
        taken.push((await text(stream)).replaceAll(/=\r?\n/g, '').replaceAll('=3D', '='));
        if (taken.length === 1) await processes.stop('SIGKILL', [first(PARTS)]);
        done();
      })();
    },
  });
  processes = await prepareProcesses({
    ADMIN_EMAIL: BOSS,
    HOUSEKEEPING_INTERVAL: '1s',
    OUTPUT_TIMEOUT: '1s',
    WEBHOOK_RETRY_INITIAL: '100ms',
    SMTP_URL: `smtp://${MAIL_USER}:${MAIL_PASSWORD}@127.0.0.1:${mail.port}?tls.rejectUnauthorized=false`,
    BASE_URL: 'https://agents.example.com',
  });
  await processes.start();
  const owner = {
    workspaceId: 'acc_internal',
    customerId: 'internal',
    actor: 'owner@localhost',
    standing: NO_STANDING,
  };
  tenant = tenantOf(processes.url, owner, processes.apiKey);
});
afterAll(async () => {
  await processes?.close();
  await mail?.close();
});

const messageIdOf = (sent: string): string => present(/^Message-ID: (.*)\r$/m.exec(sent)?.[1]);
const linkIn = (sent: string): string => processes.url + new URL(present(/https:\S+\/act\/\S+/.exec(sent))[0]).pathname;

// Guards: the mail comes again under the Message-ID that it had, and only so often as its process died; each copy has a link
// that works, and one answer counts.
test('a mail that was taken and not reported comes again under one Message-ID', async () => {
  expect((await tenant.cp('POST', '/v1/agents', ASKER_AGENT)).status).toBe(201);
  const config = { to: [BOSS] };
  const body = { name: 'Mail', kind: 'email', config, waits: true, artifacts: false };
  expect((await tenant.cp('POST', '/v1/output-destinations', body)).status).toBe(201);
  const runId = await asks(tenant, 'Which colour?');
  await eventually(() => expect(taken).toHaveLength(1));
  await processes.start();
  const log = () => tenant.cp('GET', '/v1/output-destinations/deliveries');
  const delivered = await eventually(async () => {
    const { body: told } = await log();
    expect(told.data).toMatchObject([{ status: 'delivered', recipient: BOSS, notice: 'opened' }]);
    return told.data[0];
  });
  expect(delivered.attempts).toBe(2);
  expect(taken).toHaveLength(2);
  expect(new Set(taken.map(messageIdOf))).toEqual(new Set([`<${delivered.id}@output-destinations>`]));

  const [one, two] = [linkIn(itemAt(taken, 0)), linkIn(itemAt(taken, 1))];
  expect(two).not.toBe(one);
  const wait = await untilWait(tenant, { run_id: runId });
  const said = (link: string, colour: string) =>
    fetch(link, { method: 'POST', body: new URLSearchParams({ answer: 'submit', text: colour }) });
  expect((await said(two, 'blue')).status).toBe(200);
  const late = await said(one, 'red');
  expect(await late.text()).toContain(`Answered: submit, by ${BOSS}`);
  expect(await detailOf(tenant, wait.id)).toMatchObject({ answer: 'submit', settled_by: BOSS });
  const ended = await tenant.cp('GET', `/v1/runs/${runId}/detail`);
  expect(ended.body).toMatchObject({ agent: ASKER_AGENT.slug });
});
