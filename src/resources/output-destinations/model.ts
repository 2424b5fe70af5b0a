/** Words and rules of output destinations. Pure: the delivery workflow uses it too. */
export const DESTINATION_KINDS = ['webhook', 'slack', 'email', 's3'] as const;
export type DestinationKind = (typeof DESTINATION_KINDS)[number];

/**
 * - `pending`: waits for an attempt
 * - `delivered`: the destination took it
 * - `failed`: it refused it, or no attempts are left; `last_error` says why
 */
export const OUTPUT_DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;

/** Which fields of a configuration are secrets: sealed in the row, and shown as `MASK`. */
export const SECRET_FIELDS: Readonly<Record<DestinationKind, readonly string[]>> = {
  webhook: ['secret'],
  slack: ['webhook_url'],
  email: [],
  s3: ['access_key_id', 'secret_access_key'],
};
export const MASK = '***';

/** Of an artifact, as a file. */
export const MAX_OUTPUT_BYTES = 10 * 1024 * 1024;

/** One sending of a delivery; whoever asks for it again gets the next number. */
export interface OutputDeliveryRef {
  deliveryId: string;
  /** 0 at first. */
  redelivery: number;
}

export const outputWorkflowId = ({ deliveryId, redelivery }: OutputDeliveryRef): string =>
  redelivery === 0 ? `output-${deliveryId}` : `output-${deliveryId}-${redelivery}`;
