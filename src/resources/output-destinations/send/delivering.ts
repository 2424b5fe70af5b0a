/** Sends an artifact to a stored destination, and by mail only to those who may be mailed: for deliveries and tests. */
import type { SecretBox } from '../../../platform/core/crypto.ts';
import type { Recipients } from '../recipients.ts';
import { openConfig } from '../secrets.ts';
import type { DestinationRow } from '../store/destinations.ts';
import type { Notice } from './notice.ts';
import type { DeliveredOutput } from './output.ts';
import type { OutputSender } from './sender.ts';
import type { SpendingMessage } from './spending.ts';

interface Sending {
  /** Only these addresses are sent to, where the others have had it already. */
  only?: readonly string[];
  /** Whom a notice by mail is for; otherwise it is for all whom the destination names. */
  recipient?: string | null;
  cancelled?: AbortSignal;
}

/** @returns addresses that it was not sent to because they have not confirmed @throws OutputError and nothing else */
export type Deliver = (
  destination: DestinationRow,
  message: DeliveredOutput | Notice | SpendingMessage,
  sending?: Sending,
) => Promise<string[]>;

export const createDeliver =
  (deps: { secretBox: SecretBox; send: OutputSender; recipients: Recipients }): Deliver =>
  async (destination, message, { only = [], recipient = null, cancelled } = {}) => {
    const target = openConfig(deps.secretBox, destination);
    if (target.kind === 'email') {
      const to = recipient === null ? target.config.to : [recipient];
      return deps.recipients.sendTo(destination, { to, only }, (allowed) =>
        deps.send({ ...target, config: { ...target.config, to: allowed } }, message, cancelled),
      );
    }
    await deps.send(target, message, cancelled);
    return [];
  };
