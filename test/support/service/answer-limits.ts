/** The limits of answers from outside as the settings have them, for parts that are made without the rest. */
import { answerLimits } from '../../../src/platform/egress/limits.ts';

export const ANSWER_SETTINGS = { RESPONSE_MAX_MB: 8, RESPONSE_TIMEOUT: 10_000 };
export const ANSWER_LIMITS = answerLimits(ANSWER_SETTINGS);
