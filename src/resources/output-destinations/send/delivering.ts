/** Sends an artifact to a stored destination, and by mail only to those who may be mailed: for deliveries and tests. */
import type { SecretBox } from '../../../platform/core/crypto.ts';
import type { Recipients } from '../recipients.ts';
import { openConfig } from '../secrets.ts';
import type { DestinationRow } from '../store/destinations.ts';
import type { Output } from './output.ts';
import type { OutputSender } from './sender.ts';

interface Sending {
  /** Only these addresses are sent to, where the others have had it already. */
  only?: readonly string[];
  cancelled?: AbortSignal;
}

/** @returns addresses that it was not sent to because they have not confirmed @throws OutputError and nothing else */
export type Deliver = (destination: DestinationRow, output: Output, sending?: Sending) => Promise<string[]>;

export const createDeliver =
  (deps: { secretBox: SecretBox; send: OutputSender; recipients: Recipients }): Deliver =>
  async (destination, output, { only = [], cancelled } = {}) => {
    const target = openConfig(deps.secretBox, destination);
    if (target.kind === 'email') {
      const { to } = target.config;
      return deps.recipients.sendTo(destination, { to, only }, (allowed) =>
        deps.send({ ...target, config: { ...target.config, to: allowed } }, output, cancelled),
      );
    }
    await deps.send(target, output, cancelled);
    return [];
  };
