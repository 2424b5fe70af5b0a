/** All that is deleted when it is old. The statements of a kind run in this order. */
import type { Retained } from '../platform/db/retained.ts';
import { auditLogRetained } from './audit-log/retained.ts';
import { eventLogRetained } from './event-log/retained.ts';
import { eventsRetained } from './events/retained.ts';
import { idempotencyKeysRetained } from './idempotency-keys/retained.ts';
import { hasPage, miniappsRetained } from './miniapps/retained.ts';
import { otpRetained } from './otp/retained.ts';
import { outputsRetained } from './output-destinations/retained.ts';
import { receiversRetained } from './receivers/retained.ts';
import { runsRetained } from './runs/retained.ts';
import { signInRetained } from './sign-in/retained.ts';
import { webhooksRetained } from './webhook-subscriptions/retained.ts';

export const RETAINED: readonly Retained[] = [
  miniappsRetained,
  runsRetained(hasPage),
  eventsRetained,
  eventLogRetained,
  webhooksRetained,
  outputsRetained,
  receiversRetained,
  otpRetained,
  signInRetained,
  idempotencyKeysRetained,
  auditLogRetained,
];
