/**
 * Sends mail: by SMTP where `SMTP_URL` says so, otherwise as one line of the log, so that codes can be read where there
 * is no mail. Sending is a network call and must never be made inside a transaction.
 */
import type { Config } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { Problem } from '../core/problem.ts';

export interface Mail {
  /** Several recipients see each other. */
  to: string | readonly string[];
  subject: string;
  text: string;
  /** A repeated mail has the same id, so that a mail program may show it once. */
  messageId?: string;
  /** Attachments are never shown as a part of the text and never logged. */
  attachments?: readonly { filename: string; contentType: string; content: string }[];
  /** The log gets the code as fields too, beside the text that contains it. */
  code?: { challenge_id: string; code: string };
}

export interface Mailer {
  /**
   * @returns how a mail to this address is delivered, for whoever waits for it: `email:o***@example.com`, `log:<hint>`
   */
  delivery(to: string): string;
  /** @throws Problem mail_failed */
  send(mail: Mail): Promise<void>;
}

/** A request waits no longer than this for a mail server that does not answer. */
const PATIENCE_MS = 10_000;

export const createMailer = (config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM'>, log: Log): Mailer =>
  config.SMTP_URL ? smtpMailer(config.SMTP_URL, config.MAIL_FROM, log) : logMailer(log);

function logMailer(log: Log): Mailer {
  // These lines are written whatever the level of the log, since a code that nobody can read would lock its endpoint.
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
  const opened = import('nodemailer').then(({ createTransport }) => createTransport({ ...timeouts, url }, { from }));
  return {
    delivery: (to) => `email:${masked(to)}`,
    async send({ to, subject, text, messageId, attachments = [] }) {
      // An address that is given as an object is taken as it is, so that a comma in it does not make two. The signal
      // bounds the whole delivery, because each of the time-outs above begins anew with every step.
      const mail = {
        to: [to].flat().map((address) => ({ name: '', address })),
        subject,
        text,
        messageId,
        attachments: attachments.map((file) => ({ ...file, contentDisposition: 'attachment' as const })),
        signal: AbortSignal.timeout(2 * PATIENCE_MS),
      };
      const transport = await opened;
      await transport.sendMail(mail).catch((error: Error & { code?: string; responseCode?: number }) => {
        log.error({ event: 'mail_failed', code: error.code, response_code: error.responseCode }, 'a mail was not sent');
        throw new Problem('mail_failed', `mail_failed: ${reasonOf(error)}`);
      });
    },
  };
}

/** The server's own words may contain addresses and credentials, so only the kind of failure is told. */
function reasonOf({ code, responseCode }: { code?: string; responseCode?: number }): string {
  if (code === 'EAUTH') return 'the mail server did not accept the login of SMTP_URL';
  if (responseCode !== undefined) return `the mail server answered ${responseCode}`;
  return 'the mail server could not be reached';
}

/** `owner@example.com` -> `o***@example.com` */
const masked = (address: string): string => address.replace(/^(.?).*@/, '$1***@');
