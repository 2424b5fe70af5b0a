/**
 * Reads what workflows are sent. Whoever reaches the server can send bytes that are no JSON, or in an encoding that
 * nobody here knows, and a throw would fail the workflow's task again and again. Such bytes are read as undefined,
 * which is refused where it is used.
 */
import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';

export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload<T>(payload: Parameters<PayloadConverter['fromPayload']>[0]): T {
    try {
      return defaultPayloadConverter.fromPayload(payload);
    } catch {
      return undefined as T;
    }
  },
};
