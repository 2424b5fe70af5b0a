/**
 * Tickets are kept by the browser in a cookie between two steps of sign-in: they are signed, short-lived, and good for
 * the one step that they were made for.
 */
import { hmacSha256, safeEqual, secretsIn } from '../../platform/core/crypto.ts';
import { parseJson } from '../../platform/core/json.ts';
import type { Role } from '../../platform/core/rights.ts';
import { SIGN_IN_TTL_MS } from './model.ts';

/** Each step needs this of the one before. */
export interface Tickets {
  /** Kept on the way to the identity provider and back. */
  departure: { state: string; nonce: string; codeVerifier: string; next: string };
  /** Somebody showed this address to be theirs, and is to choose a workspace. */
  choice: { email: string; next: string; role?: Role | null | undefined };
}

const signature = (key: string, step: string, payload: string): string =>
  hmacSha256(key, `sign-in.${step}.${payload}`, 'base64url');

/** @param secret older ones, which still verify, may follow after commas */
export const createTickets = (secret: string) => ({
  issue<Step extends keyof Tickets>(step: Step, value: Tickets[Step]): string {
    const kept = { value, exp: Date.now() + SIGN_IN_TTL_MS };
    const payload = Buffer.from(JSON.stringify(kept)).toString('base64url');
    return `${payload}.${signature(secretsIn(secret)[0], step, payload)}`;
  },

  /** @returns undefined for a text that was not issued for this step, or too long ago */
  read<Step extends keyof Tickets>(step: Step, text: string | undefined): Tickets[Step] | undefined {
    const [payload, signed, rest] = text?.split('.') ?? [];
    if (!payload || !signed || rest !== undefined) return undefined;
    if (!secretsIn(secret).some((key) => safeEqual(signed, signature(key, step, payload)))) return undefined;
    const { value, exp } = parseJson(Buffer.from(payload, 'base64url').toString('utf8')) as {
      value: Tickets[Step];
      exp: number;
    };
    // eslint-disable-next-line no-restricted-syntax -- the time is inside of the signed ticket, and no row has it
    return exp > Date.now() ? value : undefined;
  },
});
