/** Tells where something is sent. */
import { httpOrigin } from '../../platform/core/http-origin.ts';
import { fieldsOf } from '../../platform/core/record.ts';
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

/**
 * Returns the origin that the secrets of a destination are for. Unlike `hostOf` it takes a configuration that was not
 * checked yet; undefined if that has no address.
 */
export function destinationOrigin(kind: unknown, config: unknown): string | undefined {
  const { url, webhook_url: slackUrl, endpoint, region } = fieldsOf(config);
  switch (kind) {
    case 'webhook':
      return httpOrigin(url);
    case 'slack':
      return httpOrigin(slackUrl);
    case 's3':
      return httpOrigin(endpoint === undefined ? `https://s3.${String(region)}.amazonaws.com` : endpoint);
    default:
      return undefined;
  }
}
