/**
 * What a file under `providers/` declares of a third party: its slots, and a cheap question that only a valid token
 * answers.
 */
import { MCP_URL, type Extra, type HealthStatus, type Slot } from './model.ts';

export interface Integration {
  slug: string;
  name: string;
  category: string;
  description: string;
  /**
   * The address of its API, without a slash at the end. A setting may replace it. Where it is undefined the workspace
   * names its own.
   */
  baseUrl?: string;
  /** Further hosts of the provider that take its token. A tool that names the integration calls these and `baseUrl`. */
  hosts?: readonly string[];
  slots: readonly Slot[];
  extras?: readonly Extra[];
  /** Asks the provider whether a token is valid. @returns undefined where it did not say */
  check: HealthCheck;
}

export type HealthCheck = (probe: ProviderProbe, given: GivenValues) => Promise<HealthStatus | undefined>;

/** The values of an integration's slots, opened. */
export interface GivenValues {
  /** The token that is checked. */
  token: string;
  secrets: Readonly<Record<string, string | undefined>>;
}

export interface ProviderProbe {
  /** Sends one request below the integration's base address. */
  http(request: ProviderRequest): Promise<ProviderReply>;
  /** Connects and logs in. */
  smtp(login: SmtpLogin): Promise<HealthStatus | undefined>;
}

export interface ProviderRequest {
  /** It begins with a slash. */
  path: string;
  method?: 'POST';
  headers?: Record<string, string>;
  body?: string;
}

export interface ProviderReply {
  status: number;
  headers: Headers;
  /** The first kilobytes of the body. */
  text: string;
}

export interface SmtpLogin {
  host: string;
  port: number;
  user: string;
  password: string;
}

/** A workspace names a server of its own by this secret. */
export const BASE_URL = 'server.base_url';
/** A workspace names a server that is no web address by these two secrets. */
export const SERVER_HOST = 'server.host';
export const SERVER_PORT = 'server.port';
/** The port if a workspace names none. */
export const MAIL_PORT = '587';
/** A workspace names the model that its runs use there by this secret. */
export const DEFAULT_MODEL = 'models.default';

/** A workspace names the version of the API of its own server by this secret. */
export const API_VERSION = 'server.api_version';

/** A workspace says by this secret what its own server costs. */
export const MODEL_PRICE = 'models.price';

export const token = (key: string, label: string, { required = true } = {}): Slot => ({
  where: 'customer_token',
  key,
  label,
  required,
});
export const secret = (key: string, label: string, { required = false } = {}): Slot => ({
  where: 'secrets',
  key,
  label,
  required,
});
export const address = (key: string, label: string, options?: { required: boolean }): Slot => ({
  ...secret(key, label, options),
  format: 'address',
});
export const mcpServer = address(MCP_URL, 'Address of an MCP server; it is called with the token as bearer');

export const bearer = (value: string) => ({ authorization: `Bearer ${value}` });

/** @param read tells the health where the status of a reply does not, or says something else */
export const ask =
  (
    request: (given: GivenValues) => ProviderRequest,
    read: (reply: ProviderReply) => HealthStatus | undefined = healthOf,
  ): HealthCheck =>
  async (probe, given) =>
    read(await probe.http(request(given)));

/** A message like "invalid or expired" tells neither, so it does not match. */
const EXPIRED = /(?<!\bor (has |is )?)expired(?! or\b)/i;

/** @returns what the status of a reply says of the token */
export function healthOf({ status, text }: ProviderReply): HealthStatus | undefined {
  if (status >= 200 && status < 300) return 'ok';
  if (status === 429) return 'rate_limited';
  if (status === 401 || status === 403) return EXPIRED.test(text) ? 'expired' : 'invalid';
  return undefined;
}

/** Does the same for providers that answer with another status, and say in words what is wrong. */
export const healthByWords =
  ({ valid, invalid, rateLimited }: { valid?: RegExp; invalid?: RegExp; rateLimited?: RegExp }) =>
  (reply: ProviderReply): HealthStatus | undefined => {
    if (rateLimited?.test(reply.text)) return 'rate_limited';
    if (invalid?.test(reply.text)) return healthOf({ ...reply, status: 401 });
    const health = healthOf(reply);
    return health === 'ok' && valid && !valid.test(reply.text) ? undefined : health;
  };
