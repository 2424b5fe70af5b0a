/** `kill -9` of the worker while it makes an archive: the next try makes one of everything, and nothing is left of the first. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { present } from '../../src/platform/core/present.ts';
import { NO_STANDING } from '../../src/platform/core/rights.ts';
import { MAIL_PASSWORD, MAIL_USER, startMailServer, type MailServer } from '../support/fakes/smtp-server.ts';
import { linesIn, unpack } from '../support/archives/unpack.ts';
import { prepareProcesses, PARTS, type Processes } from '../support/processes/processes.ts';
import { demandIn, otpHeaders } from '../support/service/otp.ts';
import { eventually, tenantOf, type Tenant } from '../support/service/service.ts';
import { download } from '../resources/exports/download.ts';

const ROWS = 60_000;
const BOSS = 'boss@agents.example.com';
const PATH = '/v1/workspaces/acc_internal/exports';
/** For what the processes do not keep. */
let scratch: string;
let mail: MailServer;
let processes: Processes;
let tenant: Tenant;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'aos-scratch-'));
  mail = await startMailServer();
  processes = await prepareProcesses({
    ADMIN_EMAIL: BOSS,
    TMPDIR: scratch,
    SMTP_URL: `smtp://${MAIL_USER}:${MAIL_PASSWORD}@127.0.0.1:${mail.port}?tls.rejectUnauthorized=false`,
  });
  await processes.withDatabase(async (db) => {
    await db.rows(sql`insert into runs (id, customer_id, transport, prompt, status, completed_at)
      values ('run-of-many', 'internal', 'api', 'Say much.', 'succeeded', now())`);
    await db.rows(sql`insert into run_events (run_id, customer_id, key, event_type, payload)
      select 'run-of-many', 'internal', n::text, 'claude_iteration', jsonb_build_object('text', repeat('word ', 100))
      from generate_series(1, ${ROWS}::int) n`);
  });
  await processes.start();
  const owner = { workspaceId: 'acc_internal', customerId: 'internal', actor: BOSS, standing: NO_STANDING };
  tenant = tenantOf(processes.url, owner, processes.apiKey);
});
afterAll(async () => {
  await processes?.close();
  await mail?.close();
  await rm(scratch, { recursive: true, force: true });
});

async function ask(): Promise<string> {
  const { challenge_id: challenge } = demandIn(await tenant.cp('POST', PATH));
  const code = await eventually(() => present(/\b\d{6}\b/.exec(present(mail.mails.at(-1)).text)?.[0]));
  const { status, body } = await tenant.cp('POST', PATH, undefined, otpHeaders(challenge, code));
  if (status !== 201) throw new Error(`not asked: ${status} ${JSON.stringify(body)}`);
  return String(body.id);
}

const spools = async () => (await readdir(scratch)).filter((name) => name.startsWith('aos-export-'));

// Guards: an archive that is half of one moment and half of another; bytes of a try that was killed, in the store and on the machine.
test('an archive whose worker was killed is made once more, whole, and leaves nothing behind', async () => {
  const id = await ask();
  const at = `${PATH}/${id}`;
  await eventually(async () => {
    const { body } = await tenant.cp('GET', at);
    expect(body).toMatchObject({ status: 'running', progress: { phase: 'rows' } });
    expect(body.progress.rows).toBeGreaterThan(0);
  });
  const [part] = PARTS;
  await processes.stop('SIGKILL', [present(part)]);
  expect(await spools()).toHaveLength(1);
  await processes.start();
  await eventually(async () => {
    expect((await tenant.cp('GET', at)).body).toMatchObject({
      status: 'ready',
      summary: { tables: { run_events: ROWS } },
    });
  });
  const archive = await download({ baseUrl: processes.url }, tenant, id);
  expect(linesIn(await unpack(archive), 'rows/run_events')).toHaveLength(ROWS);
  expect(await spools()).toEqual([]);
  expect(await readdir(`${processes.dataDir}/files/exports/internal/${id}`)).toHaveLength(1);
});
