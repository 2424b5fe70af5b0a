/** Reads the settings as the embedded mode needs them: what it supplies itself need not be given. */
import { readSettings } from '../checked-settings.ts';
import type { Config } from '../platform/core/config.ts';

const SUPPLIED = 'supplied by the embedded mode';
const DEFAULTS = {
  DATABASE_URL: 'postgres://embedded',
  SESSION_SECRET: SUPPLIED,
  ADMIN_SECRET: SUPPLIED,
  SECRETS_KEY: SUPPLIED,
};

/** Reports every bad setting before anything starts. @throws ConfigError */
export const checkSettings = (env: NodeJS.ProcessEnv): Config => {
  const set = Object.entries(env).filter(([name, value]) => value !== '' || name === 'OPERATOR_TOKEN');
  return readSettings({ ...DEFAULTS, ...Object.fromEntries(set) });
};
