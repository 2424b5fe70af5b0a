/** Tells the owners of a workspace that something of theirs was paused because it took nothing for days. */
import type { Log } from '../../platform/core/log.ts';
import type { PauseUntold } from '../../platform/db/circuit.ts';
import type { Mailer } from '../../platform/mail/mailer.ts';

interface Pauses {
  listPausesUntold: (limit: number) => Promise<PauseUntold[]>;
  recordPauseTold: (pause: PauseUntold) => Promise<void>;
}

interface Kind {
  /** The name of such a thing in a sentence. */
  what: string;
  /** @returns how it is switched on again */
  remedy: (id: string) => string;
  pauses: Pauses;
}

export interface PauseTellerDependencies {
  kinds: readonly Kind[];
  /** @returns mail addresses */
  ownersOf: (customerId: string) => Promise<string[]>;
  mailer: Pick<Mailer, 'send'>;
  log: Log;
}

const BATCH = 50;

/**
 * An address is shown by its host alone, as the rest may be a secret; anything else by the name that its owners gave
 * it.
 */
const shown = (name: string): string => (URL.canParse(name) ? new URL(name).host : name);

/** Makes a chore. Owners who were told, and whose telling was not recorded, are told once more. */
export const createPauseTeller =
  ({ kinds, ownersOf, mailer, log }: PauseTellerDependencies) =>
  async (signal: AbortSignal): Promise<void> => {
    for (const { what, remedy, pauses } of kinds) {
      for (const pause of await pauses.listPausesUntold(BATCH)) {
        if (signal.aborted) return;
        await tell(what, remedy(pause.id), pause)
          .then(() => pauses.recordPauseTold(pause))
          .catch((err: unknown) =>
            log.warn({ err, customer_id: pause.customerId }, 'owners could not be told that a receiver was paused'),
          );
      }
    }

    async function tell(what: string, remedy: string, { id, customerId, name, failingSince }: PauseUntold) {
      const owners = await ownersOf(customerId);
      log.warn({ customer_id: customerId, id, what }, 'paused a receiver that has accepted nothing for days');
      if (owners.length === 0) return;
      await mailer.send({
        to: owners,
        subject: `A ${what} was paused: ${shown(name)}`,
        text: [
          `The ${what} ${shown(name)} (${id}) has taken nothing since ${failingSince.toISOString()}, in spite of repeated attempts.`,
          `It is paused: nothing new is sent to it. ${remedy}`,
          'Sending an earlier delivery again switches it on, too, when it is taken.',
        ].join('\n\n'),
      });
    }
  };
