/** A request that this service makes to an address of the caller's, as the OpenAPI documents tell of it. */
import type { z } from 'zod';

export interface Announcement {
  /** Names it in `webhooks` of the document. */
  event: string;
  summary: string;
  /** Of the request, in lower case. */
  headers: z.ZodObject;
  body: z.ZodType;
  /** Says in a sentence which answers take it. */
  answers: string;
}
