/** What the workflow of housekeeping is started with, told, and does. */
import { defineSignal } from '@temporalio/workflow';
import { CHORES, type Chore } from './chores.ts';

/** The server knows the workflow by this type. */
export const HOUSEKEEPER = 'housekeeper';

/** These are due seldom, and may take longer than the chores. */
export const SLOW_CHORES = ['checkCredentials', 'enforceRetention', 'chargeInfrastructure'] as const;
export type SlowChore = (typeof SLOW_CHORES)[number];
export type Duty = Chore | SlowChore;

/** How often it does what, by the settings of the process that started last. */
export interface Rhythm {
  /** The time between two rounds of the chores. */
  choresMs: number;
  /** Credentials that are due are looked for so often; their rows say when each is. */
  credentialsMs: number;
  /** Managed infrastructure is charged for. */
  isMetered: boolean;
}

export interface HousekeeperInput {
  rhythm: Rhythm;
  /** In how many milliseconds each is due, as an execution hands it to the next; what is left out is due. */
  dueInMs?: Partial<Record<Duty, number>>;
  /** The execution that continued as this one. */
  last?: string;
  /** The one before that, which nobody looks for any more. */
  beforeLast?: string;
  /** It continues as new after this many rounds, or sooner where the server suggests it. */
  continueAfterRounds?: number;
}

/** A process that starts says how often from now on. */
export const rhythmSignal = defineSignal<[Rhythm]>('rhythm');

const RETENTION_MS = 10 * 60_000;
const METERING_MS = 60_000;

/** @returns what is done, and after how many milliseconds again */
export function dutiesOf({ choresMs, credentialsMs, isMetered }: Rhythm): readonly [Duty, number][] {
  const metering: [Duty, number] = ['chargeInfrastructure', Math.max(choresMs, METERING_MS)];
  return [
    ...CHORES.map((chore): [Duty, number] => [chore, choresMs]),
    ['checkCredentials', credentialsMs],
    ['enforceRetention', Math.max(choresMs, RETENTION_MS)],
    ...(isMetered ? [metering] : []),
  ];
}
