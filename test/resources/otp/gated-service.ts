/** A surface with one endpoint behind the gate, on a database of its own. What is confirmed is written to a table. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { createLog } from '../../../src/platform/core/log.ts';
import { Problem } from '../../../src/platform/core/problem.ts';
import { createSurface } from '../../../src/platform/http/app.ts';
import { createAuthenticate, SESSION_HEADER } from '../../../src/platform/http/auth.ts';
import { endpoint, handle } from '../../../src/platform/http/endpoint.ts';
import { listen } from '../../../src/platform/http/server.ts';
import { createMailer } from '../../../src/platform/mail/mailer.ts';
import { createOtpService } from '../../../src/resources/otp/service.ts';
import { createOtpStore } from '../../../src/resources/otp/store.ts';
import { openTestDatabase } from '../../support/database/database.ts';
import { mailbox } from '../../support/service/otp.ts';
import { call, sessionFor, TEST_SECRETS, type Answer } from '../../support/service/service.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';

export interface GatedOptions {
  smtpUrl?: string;
  inbox?: string;
  mailsPerHour?: number;
}

/** `PUT /v1/notes/{slug}` of a tenant: its body is `{note}`, and the scope `note.set:<slug>`. */
export type Put = (slug: string, note: string, headers?: Record<string, string>) => Promise<Answer>;

const declare = (id: string, path: string) =>
  endpoint({
    id,
    path,
    surface: 'control-plane',
    method: 'put',
    credential: 'session',
    summary: 'Set a note',
    params: z.object({ slug: z.string() }),
    body: z.object({ note: z.string() }),
    otp: true,
    status: 200,
    reply: z.object({ note: z.string() }),
  });
export const setNote = declare('notes.set', '/v1/notes/{slug}');
const appendNote = declare('notes.append', '/v1/notes/{slug}/lines');

export async function startGated({ smtpUrl, inbox, mailsPerHour = 1_000_000 }: GatedOptions = {}) {
  const database = await openTestDatabase();
  const { db } = database;
  await db.rows(sql`create table notes (customer_id text, note text)`);
  const log = createLog({ level: 'silent', pretty: false, destination: mailbox });
  const store = createOtpStore(db);
  const mailer = createMailer({ SMTP_URL: smtpUrl, MAIL_FROM: 'Service <service@example.com>' }, log);
  const otp = createOtpService({ store, mailer, secret: 'secret-of-codes', inbox, mailsPerHour });
  const routes = [setNote, appendNote].map((declaration) =>
    handle(declaration, ({ caller, confirmation, params, body }) =>
      otp.gate(caller, confirmation, `note.set:${params.slug}`, async () => {
        await db.rows(sql`insert into notes values (${caller.customerId}, ${body.note})`);
        if (body.note === 'taken') throw new Problem('slug_taken');
        return body;
      }),
    ),
  );
  const { SESSION_SECRET: sessionSecret, ADMIN_SECRET: adminSecret } = TEST_SECRETS;
  const apiKeyCaller = () => Promise.reject(new Problem('invalid_api_key'));
  const authenticate = createAuthenticate({
    sessionSecret,
    adminSecret,
    operatorToken: '',
    apiKeyCaller,
    findSession: async () => ({ isEnded: false, isArchived: false }),
    identityCaller: () => Promise.reject(new Problem('auth_required')),
  });
  const routers = [createSurface({ routes, authenticate })];
  const listener = await listen({ port: 0, setting: 'PORT', log, ready: async () => {}, routers });

  return {
    db,
    store,
    otp,
    async tenant(workspaceId: string) {
      const caller = await makeWorkspace(db, workspaceId);
      const as = (actor: string) => {
        const session = sessionFor({ ...caller, actor });
        const put =
          (suffix: string): Put =>
          (slug, note, headers) =>
            call(
              `${listener.url}/v1/notes/${slug}${suffix}`,
              'PUT',
              { ...headers, [SESSION_HEADER]: session },
              { note },
            );
        return { put: put(''), append: put('/lines') };
      };
      return { ...as(caller.actor), as };
    },
    notes: async () => (await db.rows<{ note: string }>(sql`select note from notes`)).map(({ note }) => note),
    async close() {
      await listener.close(0);
      await database.close();
    },
  };
}
