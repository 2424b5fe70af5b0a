/** Counts how sign-ins end: many refusals mean that somebody guesses. */
import { Problem } from '../../platform/core/problem.ts';
import type { Meters } from '../../platform/observability/meters.ts';
import type { Codes } from './codes.ts';
import type { SignInService } from './service.ts';

type Counting = Pick<Meters, 'signIns'>;

export const meteredCodes = (codes: Codes, { signIns }: Counting): Codes => ({
  ...codes,
  async request(...asked) {
    const id = await codes.request(...asked);
    signIns.inc({ method: 'code', outcome: 'asked' });
    return id;
  },
  verify: (id, code) => codes.verify(id, code).catch(refusal(signIns, 'code')),
  useLink: (token) => codes.useLink(token).catch(refusal(signIns, 'code')),
});

export const meteredSignIn = (signIn: SignInService, { signIns }: Counting): SignInService => {
  const { oidc } = signIn;
  const method = oidc ? 'oidc' : 'code';
  return {
    ...signIn,
    oidc: oidc && { ...oidc, arrive: (...arrival) => oidc.arrive(...arrival).catch(refusal(signIns, 'oidc')) },
    async enter(email, workspace) {
      const outcome = await signIn.enter(email, workspace).catch(refusal(signIns, method));
      if (outcome.kind === 'signed-in') signIns.inc({ method, outcome: 'signed_in' });
      return outcome;
    },
  };
};

const refusal =
  (signIns: Meters['signIns'], method: string) =>
  (error: unknown): never => {
    signIns.inc({ method, outcome: error instanceof Problem ? error.code : 'failed' });
    throw error;
  };
