/** What a file under `providers/` says of a third party: its slots, and a cheap question that only a valid token answers. */
import { MCP_URL, type Extra, type HealthStatus, type Slot } from './model.ts';

export interface Integration {
  slug: string;
  name: string;
  category: string;
  description: string;
  /** Of its API, without a slash at the end. A setting may replace it. Undefined: the workspace names its own. */
  baseUrl?: string;
  slots: readonly Slot[];
  extras?: readonly Extra[];
  /** Asks the provider what a token is worth. Undefined: it did not say. */
  check: HealthCheck;
}

export type HealthCheck = (probe: Probe, given: GivenValues) => Promise<HealthStatus | undefined>;

/** The values of an integration's slots, opened. */
export interface GivenValues {
  /** The one that is asked about. */
  token: string;
  secrets: Readonly<Record<string, string | undefined>>;
}

export interface Probe {
  /** One request below the integration's base address. */
  http(request: ProviderRequest): Promise<ProviderReply>;
  /** Connects and logs in. */
  smtp(login: SmtpLogin): Promise<HealthStatus | undefined>;
}

export interface ProviderRequest {
  /** Begins with a slash. */
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

/** The secret by which a workspace names a server of its own. */
export const BASE_URL = 'server.base_url';
/** The secret by which it names the model that its runs use there. */
export const DEFAULT_MODEL = 'models.default';

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

/** @param read where the status of a reply does not say it, or says something else */
export const ask =
  (
    request: (given: GivenValues) => ProviderRequest,
    read: (reply: ProviderReply) => HealthStatus | undefined = healthOf,
  ): HealthCheck =>
  async (probe, given) =>
    read(await probe.http(request(given)));

/** "Invalid or expired" tells neither. */
const EXPIRED = /(?<!\bor (has |is )?)expired(?! or\b)/i;

/** What the status of a reply says of the token. */
export function healthOf({ status, text }: ProviderReply): HealthStatus | undefined {
  if (status >= 200 && status < 300) return 'ok';
  if (status === 429) return 'rate_limited';
  if (status === 401 || status === 403) return EXPIRED.test(text) ? 'expired' : 'invalid';
  return undefined;
}

/** The same for providers that answer with another status, and say in words what it is. */
export const healthByWords =
  ({ valid, invalid, rateLimited }: { valid?: RegExp; invalid?: RegExp; rateLimited?: RegExp }) =>
  (reply: ProviderReply): HealthStatus | undefined => {
    if (rateLimited?.test(reply.text)) return 'rate_limited';
    if (invalid?.test(reply.text)) return healthOf({ ...reply, status: 401 });
    const health = healthOf(reply);
    return health === 'ok' && valid && !valid.test(reply.text) ? undefined : health;
  };
