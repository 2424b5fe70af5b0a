/** Tells where something is sent. */
import type { DestinationTarget } from './contract.ts';

/** @returns the host with its port; undefined for mail, which goes to the deployment's own server */
export function hostOf(target: DestinationTarget): string | undefined {
  switch (target.kind) {
    case 'webhook':
      return new URL(target.config.url).host;
    case 'slack':
      return new URL(target.config.webhook_url).host;
    case 's3':
      return target.config.endpoint === undefined
        ? `s3.${target.config.region}.amazonaws.com`
        : new URL(target.config.endpoint).host;
    case 'email':
      return undefined;
  }
}
