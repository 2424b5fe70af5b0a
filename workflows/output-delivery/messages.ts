/** What a delivery of an artifact is started with. References only: content, address and secrets stay in Postgres. */
import type { DestinationKind, OutputDeliveryRef } from '../../src/resources/output-destinations/model.ts';

/** The workflow's type, as the server knows it. */
export const OUTPUT_DELIVERY = 'outputDelivery';

export interface OutputDeliveryInput extends OutputDeliveryRef {
  kind: DestinationKind;
  /** Wait before the second attempt; settings decide, so that tests need not wait. */
  retry: { initialMs: number };
  /** How long one attempt may take. */
  timeoutMs: number;
  /** Attempts of executions before this one. */
  made?: number;
  /** Activities have a queue of their own. */
  split: boolean;
}
