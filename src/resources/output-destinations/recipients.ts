/**
 * Decides who is sent artifacts by mail: members of the workspace, and whoever has said by a link that they want them.
 * The others are mailed a question, which has nothing in it that a tenant wrote, and nothing else.
 */
import { validate as isUuid } from 'uuid';
import { hmacSha256, safeEqual, secretsIn } from '../../platform/core/crypto.ts';
import type { Log } from '../../platform/core/log.ts';
import { last } from '../../platform/core/present.ts';
import type { Mailer } from '../../platform/mail/mailer.ts';
import { IS_SENT_TO, QUESTION_PATH, QUESTION_TTL_MS } from './model.ts';
import type { RecipientRequest, RecipientStore } from './store/recipients.ts';
import { OutputError } from './send/output.ts';

export interface RecipientsOptions {
  store: RecipientStore;
  /** Undefined where there is no mail server; then nobody is asked and nothing is sent. */
  mailer: Mailer | undefined;
  /** It signs the links; older ones may follow after commas. */
  secret: string;
  /** The public address of the gateway. */
  baseUrl: string;
  /** A workspace may have so many mails sent in a day, counted by recipient. */
  mailsPerDay: number;
  log: Log;
}

export type Recipients = ReturnType<typeof createRecipients>;

interface Listed {
  id: string;
  customerId: string;
}

/** So many are asked at a time when a process starts. */
const BATCH = 100;

export const createRecipients = (options: RecipientsOptions) => {
  const { store, mailer, secret, baseUrl, mailsPerDay, log } = options;
  const secrets = secretsIn(secret);
  const signatureOf = (key: string, id: string, exp: string): string =>
    hmacSha256(key, `output-recipient.${id}.${exp}`, 'base64url');

  function linkTo(id: string): string {
    const exp = String(Date.now() + QUESTION_TTL_MS);
    return `${baseUrl}${QUESTION_PATH}?token=${id}.${exp}.${signatureOf(secrets[0], id, exp)}`;
  }

  /** @returns the address that a link of this deployment was mailed to, while the link can be used */
  function recipientIn(token: string): string | undefined {
    const [id, exp, signed, rest] = token.split('.');
    if (!id || !exp || !signed || rest !== undefined || !isUuid(id)) return undefined;
    if (!secrets.some((key) => safeEqual(signed, signatureOf(key, id, exp)))) return undefined;
    // eslint-disable-next-line no-restricted-syntax -- the time is inside of the signed link, and no row has it
    return Number(exp) > Date.now() ? id : undefined;
  }

  async function askOne(asked: RecipientRequest, by: Mailer): Promise<void> {
    if (!(await store.claimQuestion(asked, mailsPerDay))) return;
    const mail = {
      to: asked.email,
      subject: 'Do you want to be sent artifacts by mail?',
      text: [
        `Somebody in the workspace ${asked.customerId} wants the artifacts of its projects to be mailed to this address.`,
        `Say here whether you want that: ${linkTo(asked.id)}`,
        'The link is good for seven days. If you do nothing, nothing is sent to you.',
      ].join('\n\n'),
    };
    await by.send(mail).catch(async (error: unknown) => {
      await store.withdrawQuestion(asked.id);
      throw error;
    });
  }

  async function askAll(all: readonly RecipientRequest[]): Promise<void> {
    if (!mailer) return;
    for (const asked of all) {
      await askOne(asked, mailer).catch((err: unknown) =>
        log.warn({ err }, 'a recipient could not be asked for consent'),
      );
    }
  }

  /** Mails their question to those recipients of a destination that have none to answer. Never throws. */
  async function ask({ id, customerId }: Listed): Promise<void> {
    if (!mailer) return;
    await store
      .listUnasked(customerId, id)
      .then(askAll)
      .catch((err: unknown) => log.warn({ err }, 'recipients could not be asked for their consent'));
  }

  return {
    ask,

    /** Asks, once, the recipients whom nobody asked yet, for example because there was no mail server. */
    async askNeverAsked(): Promise<void> {
      if (!mailer) return;
      let after: string | undefined;
      do {
        const page = await store.listNeverAsked(after, BATCH);
        await askAll(page);
        after = page.length < BATCH ? undefined : last(page).id;
      } while (after !== undefined);
    },

    /** @returns what a link leads to */
    async read(token: string): Promise<RecipientRequest | undefined> {
      const id = recipientIn(token);
      return id === undefined ? undefined : store.find(id);
    },

    /** @returns ids of deliveries that waited for the answer; undefined where the link can no longer be used */
    async answer(token: string, answer: 'confirmed' | 'refused'): Promise<string[] | undefined> {
      const id = recipientIn(token);
      return id === undefined ? undefined : store.answer(id, answer);
    },

    /**
     * Sends to those of the addresses that may be sent to, within the mails of the day.
     * @param only set where some have had it already: the addresses that have not
     * @returns those who have not confirmed yet, in lower case
     * @throws OutputError with them where there is nobody else
     */
    async sendTo(
      { id, customerId }: Listed,
      { to, only }: { to: readonly string[]; only: readonly string[] },
      send: (to: string[]) => Promise<void>,
    ): Promise<string[]> {
      const wanted = to.filter((email) => only.length === 0 || only.includes(email.toLowerCase()));
      // The sender itself reports that there is no mail server.
      if (!mailer) {
        await send([...wanted]);
        return [];
      }
      const known = await store.list(customerId, [id]);
      const members = new Set(await store.listMembers(customerId, wanted));
      const states = new Map(known.map(({ email, state }) => [email, state]));
      const stateOf = (email: string) => states.get(email.toLowerCase()) ?? 'waiting';
      // A member who is told of waits, and whom the destination does not name.
      const isInside = (email: string) => members.has(email.toLowerCase()) && !states.has(email.toLowerCase());
      const allowed = wanted.filter((email) => isInside(email) || IS_SENT_TO[stateOf(email)]);
      const waiting = wanted
        .filter((email) => !isInside(email) && stateOf(email) === 'waiting')
        .map((email) => email.toLowerCase());
      if (waiting.length > 0) await ask({ id, customerId });
      if (wanted.length === 0)
        throw new OutputError('no recipient is left: the addresses were removed from the destination', {
          isFinal: true,
        });
      if (allowed.length === 0) throw nobody(waiting);
      if (!(await store.takeMails(customerId, allowed.length, mailsPerDay))) {
        throw new OutputError(
          `the workspace may have ${mailsPerDay} mails sent in a day (UTC), and this would be more; it can be redelivered tomorrow`,
          { isFinal: true },
        );
      }
      await send(allowed).catch(async (error: unknown) => {
        await store.giveBackMails(customerId, allowed.length);
        throw error;
      });
      return waiting;
    },
  };
};

function nobody(waiting: readonly string[]): OutputError {
  if (waiting.length === 0) return new OutputError('no recipient wants it: all have refused', { isFinal: true });
  const reason = 'waits for recipients to confirm by the link that they were mailed';
  return new OutputError(`${reason}: ${waiting.join(', ')}`, { isFinal: true, withheldFrom: waiting });
}
