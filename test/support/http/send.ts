/** A request to any endpoint, built from its declaration: where it is reached, and with the credential it asks for. */
import { standingIn } from '../../../src/platform/core/rights.ts';
import { INTERNAL_WORKSPACE } from '../../../src/platform/core/ids.ts';
import type { Caller, Endpoint } from '../../../src/platform/http/endpoint.ts';
import { fillPath, isOfOperator } from './endpoints.ts';
import { demandIn, otpHeaders } from '../service/otp.ts';
import { call, sessionFor, TEST_SECRETS, type Answer, type Tenant, type TestService } from '../service/service.ts';

/** The owner of the workspace that operates the deployment. */
export const INTERNAL_CALLER: Caller = {
  workspaceId: INTERNAL_WORKSPACE,
  customerId: 'internal',
  actor: 'owner@localhost',
  standing: standingIn(INTERNAL_WORKSPACE, 'owner', { isStamped: true }),
};

/** What goes into a request, by the names in the declaration. */
export interface RequestParts {
  params?: Record<string, string | number>;
  query?: Record<string, string | number>;
  body?: unknown;
  /** For endpoints that declare `upload`. */
  file?: Uint8Array<ArrayBuffer>;
}

export const urlOf = (
  { baseUrl }: Pick<TestService, 'baseUrl'>,
  endpoint: Endpoint,
  { params = {}, query = {} }: RequestParts = {},
): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  const prefix = endpoint.surface === 'public' ? '' : '/api/v1/cp';
  return `${baseUrl}${prefix}${fillPath(endpoint, params)}${search.size > 0 ? `?${search}` : ''}`;
};

export function credentialsOf(
  { apiKey, session }: Pick<Tenant, 'apiKey' | 'session'>,
  endpoint: Endpoint,
): Record<string, string> {
  const { surface, credential } = endpoint;
  if (surface === 'public') return { authorization: `Bearer ${apiKey}` };
  if (isOfOperator(endpoint)) return { cookie: `service_session=${sessionFor(INTERNAL_CALLER)}` };
  const cookie = { cookie: `service_session=${session}` };
  return credential === 'operator' ? { ...cookie, 'x-operator-token': TEST_SECRETS.OPERATOR_TOKEN } : cookie;
}

/** As this tenant, with its valid credential. */
export async function send(
  service: Pick<TestService, 'baseUrl'>,
  tenant: Pick<Tenant, 'apiKey' | 'session'>,
  endpoint: Endpoint,
  parts: RequestParts = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const body = parts.file ? formWith(parts.file) : parts.body;
  const credentials = credentialsOf(tenant, endpoint);
  return call(urlOf(service, endpoint, parts), endpoint.method.toUpperCase(), { ...headers, ...credentials }, body);
}

/** The same; where the endpoint asks for a code, with that code. */
export async function sendConfirmed(...[service, tenant, endpoint, parts]: Parameters<typeof send>): Promise<Answer> {
  const answer = await send(service, tenant, endpoint, parts);
  if (!endpoint.otp || answer.status !== 403) return answer;
  return send(service, tenant, endpoint, parts, otpHeaders(demandIn(answer).challenge_id));
}

function formWith(file: Uint8Array<ArrayBuffer>): FormData {
  const form = new FormData();
  form.set('file', new Blob([file]), 'file');
  return form;
}
