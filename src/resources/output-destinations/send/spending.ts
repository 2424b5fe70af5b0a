/** Tells a destination what became of spending. */
import type { DestinationTarget } from '../contract.ts';
import { sendMail } from './email.ts';
import type { NoticeDependencies } from './notice.ts';
import { OutputError } from './output.ts';
import { escaped, postToSlack, section } from './slack.ts';
import { postSigned } from './webhook.ts';

export interface SpendingMessage {
  deliveryId: string;
  event: string;
  /** In a line, and the rest of it. */
  heading: string;
  text: string;
  data: Record<string, unknown>;
}

/** @throws OutputError */
export async function sendSpending(
  deps: NoticeDependencies,
  target: DestinationTarget,
  { deliveryId, event, heading, text, data }: SpendingMessage,
  signal?: AbortSignal,
): Promise<void> {
  switch (target.kind) {
    case 'webhook':
      return postSigned(deps, target.config, { event, deliveryId, data: { ...data, title: heading } }, signal);
    case 'slack': {
      const blocks = [section(`*${escaped(heading)}*\n${escaped(text)}`)];
      return postToSlack(deps.fetch, target.config, { text: heading, blocks }, signal);
    }
    case 'email':
      return sendMail(deps.mailer, deliveryId, {
        to: target.config.to,
        subject: heading,
        text: `${heading}\n\n${text}`,
      });
    case 's3':
      throw new OutputError('storage is told of nothing', { isFinal: true });
  }
}
