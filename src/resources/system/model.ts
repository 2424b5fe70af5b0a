/** Words and rules of the deployment's own state. */
export const HEALTH = ['ok', 'degraded', 'down'] as const;
export type Health = (typeof HEALTH)[number];

/** Without its database the service answers nothing; without anything else it does less. */
export function overall(parts: readonly { name: string; status: Health }[]): Health {
  if (parts.some(({ name, status }) => name === 'postgres' && status === 'down')) return 'down';
  return parts.every(({ status }) => status === 'ok') ? 'ok' : 'degraded';
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
