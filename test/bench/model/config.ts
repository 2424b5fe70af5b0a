/** The settings of a process that only calls models. */
import { loadConfig } from '../../../src/platform/core/config.ts';

const secret = 'only-for-this-benchmark-only';

export const benchConfig = (own: Record<string, string>) =>
  loadConfig({
    DATABASE_URL: 'postgres://localhost/x',
    SESSION_SECRET: secret,
    ADMIN_SECRET: secret,
    SECRETS_KEY: secret,
    ...own,
  });
