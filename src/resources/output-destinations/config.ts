/** Rules of a configuration that its shape alone does not tell. */
import type { Config } from '../../platform/core/config.ts';
import { keptSecretFault } from '../../platform/core/http-origin.ts';
import { Problem } from '../../platform/core/problem.ts';
import { addressProblem, type Egress } from '../../platform/egress/egress.ts';
import { CONFIGS, type DestinationTarget } from './contract.ts';
import { destinationOrigin } from './host.ts';
import { MASK, SECRET_FIELDS } from './model.ts';

/** @returns the address that a destination is reached at, with the name of its field */
function addressOf(target: DestinationTarget): [field: string, url: string] | undefined {
  switch (target.kind) {
    case 'webhook':
      return ['url', target.config.url];
    case 'slack':
      return ['webhook_url', target.config.webhook_url];
    case 's3':
      return target.config.endpoint === undefined ? undefined : ['endpoint', target.config.endpoint];
    case 'email':
      return undefined;
  }
}

const NO_MAIL = 'kind: the service has no mail server to send mails with; its operator sets one as SMTP_URL';

/** @returns why nothing can ever be sent there, as far as that can be told without DNS */
export function configProblem(
  target: DestinationTarget,
  egress: Pick<Egress, 'isForbiddenUrl'>,
  settings: Pick<Config, 'WEBHOOK_ALLOW_HTTP' | 'SMTP_URL'>,
): string | undefined {
  if (target.kind === 'email' && !settings.SMTP_URL) return NO_MAIL;
  const [field, url] = addressOf(target) ?? [];
  if (url === undefined) return undefined;
  const reason = addressProblem(egress, url, { allowHttp: settings.WEBHOOK_ALLOW_HTTP });
  return reason && `config.${field}: ${reason}`;
}

/**
 * Applies a change: absent and masked fields stay, null takes one away.
 * @throws Problem validation, also if a secret that stays would be used for another origin
 */
export function changedConfig(target: DestinationTarget, change: Readonly<Record<string, unknown>>): DestinationTarget {
  const given = Object.entries(change).filter(([, value]) => value !== MASK);
  const merged = new Map([...Object.entries(target.config), ...given]);
  const kept = Object.fromEntries([...merged].filter(([, value]) => value !== null));
  const { data, error } = CONFIGS[target.kind].safeParse(kept);
  if (error) {
    const faults = error.issues.map(({ path, message, code }) => ({
      loc: ['body', 'config', ...path],
      msg: message,
      type: code,
    }));
    throw new Problem('validation', faults);
  }
  const origin = destinationOrigin(target.kind, target.config);
  if (destinationOrigin(target.kind, data) !== origin) {
    const names = new Set(given.map(([name]) => name));
    const kept = SECRET_FIELDS[target.kind].filter((name) => Object.hasOwn(data, name) && !names.has(name));
    const faults = kept.map((name) => ({
      loc: ['body', 'config', name],
      msg: keptSecretFault(origin),
      type: 'kept_secret',
    }));
    if (faults.length > 0) throw new Problem('validation', faults);
  }
  return { kind: target.kind, config: data } as DestinationTarget;
}
