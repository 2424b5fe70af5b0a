/** An output is what is sent; an OutputError says how sending it fails. */
import { CONTENT_TYPES, openable } from '../../../platform/core/openable.ts';
import { MAX_OUTPUT_BYTES } from '../model.ts';

export interface DeliveredOutput {
  /** It is the same for every attempt and redelivery, so that a receiver can tell a repeat. */
  deliveryId: string;
  project: { id: string; title: string; workflowSlug: string; workflowVersion: number };
  artifact: { id: string; phaseSlug: string; version: number; schemaSlug: string; content: unknown; createdAt: Date };
  /** The project's content was recorded, and no model was called for it. */
  isSample: boolean;
}

/** The message is for the tenant: it names no address beyond the host, and no secret. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
  /** Another attempt would not help. */
  readonly isFinal: boolean;
  /** It waits for these addresses, and is sent once they confirm. */
  readonly withheldFrom: readonly string[];

  constructor(message: string, { isFinal, withheldFrom = [] }: { isFinal: boolean; withheldFrom?: readonly string[] }) {
    super(message);
    this.isFinal = isFinal;
    this.withheldFrom = withheldFrom;
  }
}

/** Translates the status of a destination that speaks HTTP: only refusals that say "later" are worth a repetition. */
export const refusedWith = (status: number, who: string, more = ''): OutputError =>
  new OutputError(`${who} answered ${status}${more && ` ${more}`}`, {
    isFinal: status < 500 && status !== 408 && status !== 429,
  });

/** @returns the artifact as a file that programs open @throws OutputError where it is too large to be sent */
export function fileOf({ artifact }: DeliveredOutput): { text: string; extension: string; contentType: string } {
  const { text, extension } = openable(artifact.content);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_OUTPUT_BYTES) {
    throw new OutputError(`the artifact has ${bytes} bytes, and at most ${MAX_OUTPUT_BYTES} are sent`, {
      isFinal: true,
    });
  }
  return { text, extension, contentType: CONTENT_TYPES[extension] };
}
