/** Sends one artifact to one destination: the same way for a delivery, and for a test that a person asks for. */
import { rootInWords } from '../../../platform/core/causes.ts';
import { fieldsOf } from '../../../platform/core/record.ts';
import { ForbiddenAddressError, type GuardedFetch } from '../../../platform/egress/egress.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import type { DestinationTarget } from '../contract.ts';
import { SECRET_FIELDS } from '../model.ts';
import { bodyLimitIn } from '../../../platform/egress/limits.ts';
import { sendEmail } from './email.ts';
import { sendNotice, type Notice } from './notice.ts';
import { OutputError, type DeliveredOutput } from './output.ts';
import { sendSpending, type SpendingMessage } from './spending.ts';
import { sendS3 } from './s3.ts';
import { sendSlack } from './slack.ts';
import { sendWebhook, type Sign } from './webhook.ts';

export interface OutputSenderDependencies {
  fetch: GuardedFetch;
  mailer: Mailer | undefined;
  sign: Sign;
  /** @returns the address at which a person reads the artifacts of a project */
  linkTo: (projectId: string) => string;
  timeoutMs: number;
}

/** @throws OutputError and nothing else */
export type OutputSender = (
  target: DestinationTarget,
  message: DeliveredOutput | Notice | SpendingMessage,
  cancelled?: AbortSignal,
) => Promise<void>;

export const createOutputSender =
  (deps: OutputSenderDependencies): OutputSender =>
  async (target, message, cancelled) => {
    const limits = { totalMs: deps.timeoutMs, raisedBy: { time: 'OUTPUT_TIMEOUT' } };
    const fetch: GuardedFetch = (url, init) => deps.fetch(url, init, limits);
    try {
      if ('wait' in message) await sendNotice({ ...deps, fetch }, target, message, cancelled);
      else if ('heading' in message) await sendSpending({ ...deps, fetch }, target, message, cancelled);
      else await dispatch({ ...deps, fetch }, target, message, cancelled);
    } catch (error) {
      if (error instanceof OutputError) throw error;
      const isFinal = error instanceof ForbiddenAddressError;
      const reason = cancelled?.aborted
        ? 'the worker stopped'
        : bodyLimitIn(error)?.limit === 'time'
          ? `no answer within ${deps.timeoutMs} ms`
          : describe(error);
      throw new OutputError(withoutSecrets(reason, target), { isFinal });
    }
  };

function dispatch(
  deps: OutputSenderDependencies,
  target: DestinationTarget,
  output: DeliveredOutput,
  signal?: AbortSignal,
) {
  switch (target.kind) {
    case 'webhook':
      return sendWebhook(deps, target.config, output, signal);
    case 'slack':
      return sendSlack(deps, target.config, output, signal);
    case 'email':
      return sendEmail(deps, target.config, output);
    case 's3':
      return sendS3(deps, target.config, output, signal);
  }
}

const MAX_REASON = 500;

const describe = (error: unknown): string => (rootInWords(error) || 'it could not be sent').slice(0, MAX_REASON);

/** Secrets are taken out of a text, because no library promises what its errors say. */
const withoutSecrets = (text: string, { kind, config }: DestinationTarget): string =>
  SECRET_FIELDS[kind].reduce((clean, name) => {
    const secret = fieldsOf(config)[name];
    return typeof secret === 'string' ? clean.replaceAll(secret, '***') : clean;
  }, text);
