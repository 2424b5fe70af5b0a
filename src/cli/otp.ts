/**
 * Handles requests that the service wants confirmed with a code by mail. On a terminal the person is asked for the
 * code; a program is told how to repeat its command with the code.
 */
import { InvalidArgumentError, type Command } from 'commander';
import type { OtpProblem } from '../../client/src/api.ts';
import { question } from './asking.ts';
import type { ServiceClient } from './client.ts';
import { CliError, oneLine, printAside } from './output.ts';
import { ServiceProblem } from './problems.ts';

export interface Confirming {
  challenge?: string;
  code?: string;
}

type OtpDemand = OtpProblem['detail'];

/** The number of wrong codes after which the command gives up. The service burns a challenge after as many. */
const MAX_TRIES = 5;

/** Adds the options that a confirmation takes. */
export const confirmable = (command: Command): Command =>
  command
    .option('--challenge <id>', 'what the service called the confirmation it asked for')
    .option('--code <digits>', 'the code that was mailed for it', sixDigits);

/**
 * Sends a request, with the code where it is given or the person can be asked for it.
 * @throws CliError
 */
export async function confirmed<T>(
  { controlPlane }: Pick<ServiceClient, 'controlPlane'>,
  { method, path, body }: { method: string; path: string; body?: unknown },
  { challenge, code }: Confirming,
): Promise<T> {
  if ((challenge === undefined) !== (code === undefined)) throw new CliError('give both --challenge and --code');
  let headers = challenge !== undefined && code !== undefined ? headersOf(challenge, code) : {};
  for (let tries = 0; ; tries += 1) {
    try {
      return await controlPlane<T>(method, path, body, headers);
    } catch (error) {
      const demand = demandIn(error);
      if (!demand) throw error;
      const isAsked = process.stdin.isTTY && process.stderr.isTTY && tries < MAX_TRIES;
      if (!isAsked) throw new CliError(howToConfirm(demand));
      if (tries > 0) printAside('That is not the code.');
      headers = headersOf(demand.challenge_id, await ask(demand));
    }
  }
}

const headersOf = (challenge: string, code: string) => ({
  'x-service-otp-challenge': challenge,
  'x-service-otp-code': code,
});

function demandIn(error: unknown): OtpDemand | undefined {
  if (!(error instanceof ServiceProblem)) return undefined;
  const detail = error.detail as OtpDemand | null | undefined;
  return detail?.otp_required ? detail : undefined;
}

const whereTo = ({ delivery }: OtpDemand): string => {
  const [how, where = ''] = oneLine(delivery).split(/:(.*)/s);
  return how === 'email' ? `was mailed to ${where}` : `is in the log of the service (${where})`;
};

const howToConfirm = (demand: OtpDemand): string =>
  `${demand.scope} needs a code, which ${whereTo(demand)}; repeat the command with:\n` +
  `  --challenge=${demand.challenge_id} --code=<the six digits>`;

const ask = (demand: OtpDemand): Promise<string> =>
  question(`${demand.scope} needs a code, which ${whereTo(demand)}. Code: `, /^\d{6}$/);

function sixDigits(given: string): string {
  if (/^\d{6}$/.test(given)) return given;
  throw new InvalidArgumentError('expects six digits');
}
