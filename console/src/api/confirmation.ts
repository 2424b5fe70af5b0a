/**
 * Asks the person for confirmation codes. The box that asks is registered here, so that any request may need a code.
 */
import type { OtpProblem } from './types.ts';
import { ApiProblem } from './problem.ts';

export type Demand = OtpProblem['detail'];

interface Asked {
  demand: Demand;
  isAgain: boolean;
  /** @param code is undefined where the person gave up */
  answer: (code: string | undefined) => void;
}

let asked: Asked | undefined;
const watchers = new Set<() => void>();
const set = (next: Asked | undefined) => {
  asked = next;
  for (const watcher of watchers) watcher();
};

export const askedNow = (): Asked | undefined => asked;
export const watchAsked = (watcher: () => void) => {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
};

/** @throws ApiProblem where the person gives up */
export async function codeFor(demand: Demand, isAgain: boolean): Promise<Record<string, string>> {
  const code = await new Promise<string | undefined>((answer) => set({ demand, isAgain, answer }));
  set(undefined);
  if (code === undefined) throw new ApiProblem('It was not confirmed. Nothing was changed.', { code: 'not_confirmed' });
  return { 'x-service-otp-challenge': demand.challenge_id, 'x-service-otp-code': code };
}
