import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { createLog } from '../../../src/platform/core/log.ts';
import { first } from '../../../src/platform/core/present.ts';
import { createMailer } from '../../../src/platform/mail/mailer.ts';
import { MAIL_PASSWORD, MAIL_USER, startMailServer, type MailServer } from '../../support/fakes/smtp-server.ts';
import { portOf } from '../../support/processes/listening.ts';

const MAIL_FROM = 'The Service <service@example.com>';
const MAIL = {
  to: 'owner@example.com',
  subject: 'A code',
  text: 'Code: 123456',
  code: { challenge_id: 'an-id', code: '123456' },
};

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});
const serverWith = async (...options: Parameters<typeof startMailServer>): Promise<MailServer> => {
  const server = await startMailServer(...options);
  open.push(server);
  return server;
};

const lines: string[] = [];
beforeEach(() => void lines.splice(0));
const mailer = (url: string | undefined, level = 'info') =>
  createMailer(
    { SMTP_URL: url, MAIL_FROM },
    createLog({ level, pretty: false, destination: { write: (line) => void lines.push(line) } }),
  );
const failureOf = (url: string): Promise<unknown> =>
  mailer(url)
    .send(MAIL)
    .then(
      () => undefined,
      (error: unknown) => error,
    );

describe('without a mail server', () => {
  // Guards: a code can be read by people and by programs where no mail is configured.
  test.each(['info', 'silent'])('mail is a line of the log, at level %s too', async (level) => {
    await mailer(undefined, level).send(MAIL);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        event: 'mail',
        to: MAIL.to,
        subject: MAIL.subject,
        text: MAIL.text,
        challenge_id: 'an-id',
        code: '123456',
      }),
    ]);
    expect(mailer(undefined).delivery(MAIL.to)).toMatch(/^log:.*"mail"/);
  });
});

describe('with one', () => {
  const TRUSTING = '?tls.rejectUnauthorized=false';

  // Guards: mail arrives with the configured sender, logged in and encrypted by STARTTLS.
  test('mail is sent to it', async () => {
    const { port, mails } = await serverWith();
    const { send, delivery } = mailer(`smtp://${MAIL_USER}:${MAIL_PASSWORD}@127.0.0.1:${port}${TRUSTING}`);
    await send(MAIL);
    expect(mails).toEqual([
      {
        from: 'service@example.com',
        to: ['owner@example.com'],
        user: MAIL_USER,
        isEncrypted: true,
        text: expect.stringContaining('Code: 123456'),
      },
    ]);
    expect(first(mails).text).toMatch(/^From: The Service <service@example\.com>\r$/m);
    expect(first(mails).text).toMatch(/^Subject: A code\r$/m);
    expect(delivery('owner@example.com')).toBe('email:o***@example.com');
    expect(lines).toEqual([]);
  });

  // Guards against: a subject made of a title, which a tenant writes: no line of it may become a header, and none may
  // be too long.
  test.each([
    ['line breaks', 'Bees\r\nBcc: victim@example.com\r\n\r\n<b>body</b>'],
    ['line feeds', 'Bees\nBcc: victim@example.com\n\nbody'],
    ['carriage returns', 'Bees\rBcc: victim@example.com\r\rbody'],
    ['a NUL and escapes', 'Bees\u0000\u001b[2J\u2028Bcc: victim@example.com'],
    ['ten thousand characters', 'Bees \u{1f41d} '.repeat(1_200)],
    ['an encoded word', '=?utf-8?Q?Bees=0D=0ABcc:_victim@example.com?='],
  ])('a subject is one header, with %s', async (_, subject) => {
    const { port, mails } = await serverWith();
    await mailer(`smtp://${MAIL_USER}:${MAIL_PASSWORD}@127.0.0.1:${port}${TRUSTING}`).send({ ...MAIL, subject });
    const [{ to, text }] = mails as [(typeof mails)[number]];
    expect(to).toEqual([MAIL.to]);
    const [head = '', ...body] = text.split('\r\n\r\n');
    const lines = head.split('\r\n');
    expect(lines.filter((line) => /^(bcc|cc|victim)/i.test(line))).toEqual([]);
    expect(lines.filter((line) => /^subject:/i.test(line))).toHaveLength(1);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(998);
    expect(body.join()).toContain('Code: 123456');
    expect(body.join()).not.toContain('<b>body');
  });

  // Guards: an address is one recipient and cannot add a header line, whatever is in it.
  test.each(['a@example.com, b@example.com', 'a@example.com\r\nBcc: b@example.com', 'owner', ''])(
    'the address %j reaches nobody else',
    async (to) => {
      const { port, mails } = await serverWith({ authOptional: true });
      await mailer(`smtp://127.0.0.1:${port}${TRUSTING}`)
        .send({ ...MAIL, to })
        .catch(() => {});
      for (const mail of mails) {
        expect(mail.to).not.toContain('b@example.com');
        expect(mail.text).not.toMatch(/^Bcc/m);
      }
    },
  );

  // Guards: a person who waits for a code is told that mail fails, and nothing of the login or the code.
  test('a failure is a problem with a reason', async () => {
    const { port } = await serverWith();
    const full = await serverWith({
      authOptional: true,
      onRcptTo: (_address, _session, done) => done(Object.assign(new Error('mailbox full'), { responseCode: 452 })),
    });
    const reasons = new Map([
      [`smtp://${MAIL_USER}:wrong-password@127.0.0.1:${port}${TRUSTING}`, 'did not accept the login of SMTP_URL'],
      [`smtp://127.0.0.1:${full.port}${TRUSTING}`, 'the mail server answered 452'],
      // Its certificate is not one that anybody trusts.
      [`smtp://${MAIL_USER}:${MAIL_PASSWORD}@127.0.0.1:${port}`, 'the mail server could not be reached'],
      ['smtp://127.0.0.1:1', 'the mail server could not be reached'],
    ]);
    for (const [url, reason] of reasons) {
      const failure = await failureOf(url);
      expect(failure).toMatchObject({ code: 'mail_failed', status: 502, detail: expect.stringContaining(reason) });
    }
    expect(lines).toHaveLength(reasons.size);
    for (const secret of ['wrong-password', MAIL_PASSWORD, '123456']) expect(lines.join()).not.toContain(secret);
  });

  // Guards: a server that takes the connection and says nothing does not hold a request for ever.
  test('one that never answers is given up', async () => {
    const sockets: Socket[] = [];
    const mute = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const failure = await failureOf(`smtp://127.0.0.1:${portOf(mute)}?greetingTimeout=50`);
    expect(failure).toMatchObject({ code: 'mail_failed' });
    sockets.forEach((socket) => socket.destroy());
    mute.close();
  });
});
