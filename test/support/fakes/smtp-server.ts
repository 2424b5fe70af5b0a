/** A mail server that speaks SMTP, with login and STARTTLS, and keeps what it is sent. */
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { portOf } from '../processes/listening.ts';

interface ReceivedMail {
  from: string;
  to: string[];
  /** With its headers. */
  text: string;
  /** Who logged in. */
  user: string | undefined;
  isEncrypted: boolean;
}

export interface MailServer {
  port: number;
  mails: ReceivedMail[];
  close(): Promise<void>;
}

export const MAIL_USER = 'mail-user';
export const MAIL_PASSWORD = 'mail-password';

/** @param options a login is asked for unless `authOptional` */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      username === MAIL_USER && password === MAIL_PASSWORD ? done(null, { user: username }) : done(new Error('no')),
    onData(stream, { envelope, user, secure }, done) {
      void text(stream).then((received) => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        mails.push({ from, to, text: received, user, isEncrypted: secure });
        done();
      });
    },
    ...options,
  });
  // A client that does not trust the certificate breaks the connection off.
  server.on('error', () => {});
  const listening = once(server.server, 'listening');
  server.listen(0, '127.0.0.1');
  await listening;
  return {
    port: portOf(server.server),
    mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
