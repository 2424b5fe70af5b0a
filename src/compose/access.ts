/**
 * Makes what decides who may do what: workspaces' keys and members, sign-in, confirmation codes, and the log of what
 * was done.
 */
import { createApiKeyService } from '../resources/api-keys/service.ts';
import { createApiKeyStore, revokeKeysMadeBy } from '../resources/api-keys/store.ts';
import { createAuditService } from '../resources/audit-log/service.ts';
import { createAuditStore } from '../resources/audit-log/store.ts';
import { createOnceOnly } from '../resources/idempotency-keys/service.ts';
import { createDeployTokenService } from '../resources/deploy-tokens/service.ts';
import { createDeployTokenStore, revokeTokensMadeBy } from '../resources/deploy-tokens/store.ts';
import { createIdempotencyKeyStore } from '../resources/idempotency-keys/store.ts';
import { createMemberService } from '../resources/members/service.ts';
import { createMemberStore } from '../resources/members/store/index.ts';
import { meteredOtp } from '../resources/otp/metered.ts';
import { createOtpService } from '../resources/otp/service.ts';
import { createOtpStore } from '../resources/otp/store.ts';
import { createCodes } from '../resources/sign-in/codes.ts';
import { meteredCodes, meteredSignIn } from '../resources/sign-in/metered.ts';
import { createIdentityCaller } from '../resources/sign-in/identity.ts';
import { createLocalLinks } from '../resources/sign-in/local-links.ts';
import { createOidc } from '../resources/sign-in/oidc.ts';
import { createSignIn } from '../resources/sign-in/service.ts';
import { createSessions } from '../resources/sign-in/sessions.ts';
import { createSignInStore } from '../resources/sign-in/store.ts';
import { createWorkspaceStore } from '../resources/workspaces/store/index.ts';
import { TENANT_DATA } from '../resources/tenant-data.ts';
import type { Runtime } from '../runtime.ts';
import type { Platform } from './platform.ts';

export type Access = ReturnType<typeof composeAccess>;

/** Keys and tokens that a person made end with the membership of the person. */
const REVOCATIONS = [revokeKeysMadeBy, revokeTokensMadeBy];

export function composeAccess({ config, log, db }: Runtime, { baseUrl, mailer, meters, secretBox }: Platform) {
  const secret = config.SESSION_SECRET;
  const signInStore = createSignInStore(db);
  const stores = {
    members: createMemberStore(db, signInStore, REVOCATIONS),
    signIn: signInStore,
    workspaces: createWorkspaceStore(db, TENANT_DATA),
  };
  const codeChecks = createOtpService({
    store: createOtpStore(db),
    mailer,
    secret,
    inbox: config.ADMIN_EMAIL,
    // Without a mail server codes are lines of the operator's own log, which floods nobody's mailbox.
    mailsPerHour: config.SMTP_URL ? config.OTP_MAILS_PER_HOUR : Infinity,
  });
  const codes = createCodes({
    store: signInStore,
    isMember: stores.members.isMember,
    mailer,
    secret,
    baseUrl,
    log,
  });
  const deployTokenStore = createDeployTokenStore(db);
  const audit = createAuditStore(db);
  const signIn = createSignIn({
    codes: meteredCodes(codes, meters),
    oidc: createOidc(config),
    localLinks: createLocalLinks(),
    sessions: createSessions({
      store: signInStore,
      useDeployToken: deployTokenStore.use,
      secret,
      ttlMs: config.SESSION_TTL,
    }),
    members: stores.members,
    noteRole: ({ customerId, email, role }) =>
      audit.insert([
        { customerId, actor: 'identity-provider', action: 'members.update', target: { email }, change: { role } },
      ]),
    secret,
    isMailLogged: config.SMTP_URL === undefined,
  });
  return {
    stores,
    apiKeys: createApiKeyService({ store: createApiKeyStore(db), workspaces: stores.workspaces }),
    deployTokens: createDeployTokenService({
      store: deployTokenStore,
      workspaces: stores.workspaces,
      beginning: signInStore.beginning,
      secret,
    }),
    audit: createAuditService({ store: audit, log }),
    /** Finds the caller by an access token of the identity provider. */
    identityCaller: createIdentityCaller({
      settings: config,
      members: stores.members,
      believedFrom: signInStore.believedFrom,
    }),
    onceOnly: createOnceOnly({ store: createIdempotencyKeyStore(db), secretBox, log }),
    members: createMemberService({ store: stores.members }),
    otp: meteredOtp(codeChecks, meters),
    signIn: meteredSignIn(signIn, meters),
  };
}
