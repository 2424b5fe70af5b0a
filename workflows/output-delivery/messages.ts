/**
 * The start of a delivery of an artifact. It carries references only: content, address and secrets stay in Postgres.
 */
import type { DestinationKind, OutputDeliveryRef } from '../../src/resources/output-destinations/model.ts';

/** The server knows the workflow by this type. */
export const OUTPUT_DELIVERY = 'outputDelivery';

export interface OutputDeliveryInput extends OutputDeliveryRef {
  kind: DestinationKind;
  /** The wait before the second attempt. Settings decide it, so that tests need not wait. */
  retry: { initialMs: number };
  /** One attempt may take this long. */
  timeoutMs: number;
  /** Earlier executions of the delivery made so many attempts. */
  made?: number;
  /** Says that activities have a queue of their own. */
  split: boolean;
}
