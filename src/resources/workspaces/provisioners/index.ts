/** Makes the provisioner that the settings ask for. */
import type { Config } from '../../../platform/core/config.ts';
import { plainFetch } from '../../../platform/egress/limits.ts';
import { createHttpProvisioner } from './http.ts';
import { createLocalProvisioner, type LocalProvisionerOptions } from './local.ts';
import type { Provisioner } from './provisioner.ts';

type Settings = Pick<
  Config,
  | 'PROVISIONER_URL'
  | 'PROVISIONER_TOKEN'
  | 'PROVISIONER_TIMEOUT'
  | 'RESPONSE_MAX_MB'
  | 'RESPONSE_TIMEOUT'
  | 'BASE_URL'
  | 'PORT'
>;

export const createProvisioner = (
  settings: Settings,
  local: Omit<LocalProvisionerOptions, 'runtimeBaseUrl'>,
): Provisioner =>
  settings.PROVISIONER_URL
    ? createHttpProvisioner({
        url: settings.PROVISIONER_URL,
        token: settings.PROVISIONER_TOKEN,
        timeoutMs: settings.PROVISIONER_TIMEOUT,
        fetch: plainFetch(settings),
      })
    : createLocalProvisioner({
        ...local,
        runtimeBaseUrl: settings.BASE_URL ?? `http://localhost:${settings.PORT}`,
      });
