/**
 * Mail: by SMTP where `SMTP_URL` says so, else one line of the log, so that codes can be read where there is no mail.
 *
 * Sending is a network call: never do it inside a transaction.
 */
import { createTransport } from 'nodemailer';
import type { Config } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { Problem } from '../core/problem.ts';

interface Mail {
  /** Several see each other. */
  to: string | readonly string[];
  subject: string;
  text: string;
  /** The same each time a mail is repeated, so that a mail program may show it once. */
  messageId?: string;
  /** Never shown as a part of the text, and never in the log. */
  attachments?: readonly { filename: string; contentType: string; content: string }[];
  /** What the log says of a code, beside the text that has it too. */
  code?: { challenge_id: string; code: string };
}

export interface Mailer {
  /** How a mail to this address gets there, for whoever waits for it: `email:o***@example.com`, `log:<hint>`. */
  delivery(to: string): string;
  /** @throws Problem mail_failed */
  send(mail: Mail): Promise<void>;
}

/** A server that does not answer keeps a request waiting for no longer than this. */
const PATIENCE_MS = 10_000;

export const createMailer = (config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM'>, log: Log): Mailer =>
  config.SMTP_URL ? smtpMailer(config.SMTP_URL, config.MAIL_FROM, log) : logMailer(log);

function logMailer(log: Log): Mailer {
  // Whatever the level of the log: a code that nobody can read would lock its endpoint.
  const mails = log.child({}, { level: 'info' });
  return {
    delivery: () => 'log:the line with event "mail" in the log of the service',
    async send({ to, subject, text, code }) {
      mails.info({ event: 'mail', to, subject, text, ...code }, subject);
    },
  };
}

function smtpMailer(url: string, from: string, log: Log): Mailer {
  const timeouts = {
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    dnsTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
  };
  const transport = createTransport({ ...timeouts, url }, { from });
  return {
    delivery: (to) => `email:${masked(to)}`,
    async send({ to, subject, text, messageId, attachments = [] }) {
      // Given as an object, an address is taken as it is: a comma in it does not make two of it. The signal bounds the
      // whole of it: each of the time-outs above begins again with every step.
      const mail = {
        to: [to].flat().map((address) => ({ name: '', address })),
        subject,
        text,
        messageId,
        attachments: attachments.map((file) => ({ ...file, contentDisposition: 'attachment' as const })),
        signal: AbortSignal.timeout(2 * PATIENCE_MS),
      };
      await transport.sendMail(mail).catch((error: Error & { code?: string; responseCode?: number }) => {
        log.error({ event: 'mail_failed', code: error.code, response_code: error.responseCode }, 'a mail was not sent');
        throw new Problem('mail_failed', `mail_failed: ${reasonOf(error)}`);
      });
    },
  };
}

/** The server's own words may name addresses and credentials; what kind of failure it was is enough. */
function reasonOf({ code, responseCode }: { code?: string; responseCode?: number }): string {
  if (code === 'EAUTH') return 'the mail server did not accept the login of SMTP_URL';
  if (responseCode !== undefined) return `the mail server answered ${responseCode}`;
  return 'the mail server could not be reached';
}

/** `owner@example.com` -> `o***@example.com` */
const masked = (address: string): string => address.replace(/^(.?).*@/, '$1***@');
