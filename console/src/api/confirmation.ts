/**
 * Asks the person for confirmation codes. The box that asks is registered here, so that any request may need a code.
 * Requests that need one at the same time are asked about one after another.
 */
import type { OtpProblem } from './types.ts';
import { ApiProblem } from './problem.ts';

export type Demand = OtpProblem['detail'];

interface Asked {
  /** Tells one question from the next, also where both are about the same code. */
  number: number;
  demand: Demand;
  isAgain: boolean;
  /** @param code is undefined where the person gave up */
  answer: (code: string | undefined) => void;
}

let count = 0;
/** The first is on the screen. */
let queue: readonly Asked[] = [];
const watchers = new Set<() => void>();
const set = (next: readonly Asked[]) => {
  queue = next;
  for (const watcher of watchers) watcher();
};

/** @returns the questions that have no answer yet, oldest first; the same array for as long as nothing changes */
export const askedNow = (): readonly Asked[] => queue;
export const watchAsked = (watcher: () => void) => {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
};

/** @throws ApiProblem where the person gives up */
export async function codeFor(demand: Demand, isAgain: boolean): Promise<Record<string, string>> {
  const number = ++count;
  const code = await new Promise<string | undefined>((answer) => set([...queue, { number, demand, isAgain, answer }]));
  set(queue.filter((asked) => asked.number !== number));
  if (code === undefined) throw new ApiProblem('It was not confirmed. Nothing was changed.', { code: 'not_confirmed' });
  return { 'x-service-otp-challenge': demand.challenge_id, 'x-service-otp-code': code };
}
