/**
 * Workspaces whose infrastructure an external provisioner makes: any HTTP service that speaks the small protocol of
 * docs/operate/provisioner.md. Its address is the operator's own setting, so it is called directly and may be private.
 *
 * The address of a resource is made of the workspace and the kind of resource. It is what makes repeating safe, and what
 * lets a destruction find things whose making was never recorded.
 */
import { z } from 'zod';
import { parsedJson } from '../../../platform/core/json.ts';
import { isOneOf } from '../../../platform/core/one-of.ts';
import { storableText } from '../../../platform/core/storable.ts';
import { withoutTrailingSlashes } from '../../../platform/core/text.ts';
import { bodyLimitIn, type LimitedFetch } from '../../../platform/egress/limits.ts';
import { readText } from '../../../platform/egress/read-capped.ts';
import { ProvisionerError, unknownResource, type ProvisionedTenant, type Provisioner } from './provisioner.ts';

export interface HttpProvisionerOptions {
  url: string;
  token: string | undefined;
  /** The provisioner may take this long to answer. */
  timeoutMs: number;
  fetch: LimitedFetch;
}

const RESOURCES = ['storage', 'database', 'cache', 'server'] as const;

const Answer = z.object({
  status: z.enum(['creating', 'ready', 'deleting', 'failed']),
  id: z.string().max(500).optional(),
  runtime_base_url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
  code: z.string().max(100).optional(),
  message: z.string().max(500).optional(),
});
type Answer = z.output<typeof Answer>;

/** A refusal that has this form is told; any other is described by its status alone. */
const Refusal = z.object({ code: z.string().min(1).max(100), message: z.string().max(500).optional() });

export const createHttpProvisioner = ({ url, token, timeoutMs, fetch }: HttpProvisionerOptions): Provisioner => {
  const base = withoutTrailingSlashes(url);

  /** @returns undefined for a 404, or an answer without a body */
  async function ask(
    method: 'PUT' | 'GET' | 'DELETE',
    tenant: ProvisionedTenant,
    resource: string,
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    if (!isOneOf(RESOURCES, resource)) throw unknownResource(resource);
    const { workspaceId, customerId, plan } = tenant;
    const { status, text } = await send(`${base}/v1/workspaces/${encodeURIComponent(customerId)}/${resource}`, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(method === 'PUT' && {
          'content-type': 'application/json',
          'idempotency-key': `${customerId}/${resource}`,
        }),
      },
      ...(method === 'PUT' && { body: JSON.stringify({ workspace_id: workspaceId, plan }) }),
      redirect: 'manual',
      signal,
    });
    if (status === 204 || (status === 404 && method !== 'PUT')) return undefined;
    const body = parsedJson(text);
    if (status >= 200 && status < 300) {
      const answer = Answer.safeParse(body);
      if (answer.success) return answer.data;
      throw new ProvisionerError(
        'provisioner_malformed_answer',
        `${resource}: the provisioner's answer cannot be understood`,
      );
    }
    const refusal = Refusal.safeParse(body).data;
    const isFinal = status >= 300 && status < 500 && status !== 408 && status !== 429;
    throw refused(resource, refusal, `the provisioner answered ${status}`, isFinal);
  }

  async function send(address: string, request: RequestInit): Promise<{ status: number; text: string }> {
    try {
      const limits = { totalMs: timeoutMs, raisedBy: { time: 'PROVISIONER_TIMEOUT' } };
      const response = await fetch(address, request, limits);
      return { status: response.status, text: await readText(response) };
    } catch (error) {
      // The message of fetch may name the address, which may carry credentials.
      const limit = bodyLimitIn(error);
      const said = limit ? `: ${limit.message}` : '';
      throw new ProvisionerError('provisioner_unreachable', `the provisioner does not answer${said}`);
    }
  }

  const resourceOf = (resource: string, answer: Answer | undefined) => {
    if (answer === undefined) return undefined;
    if (answer.status === 'failed') throw refused(resource, answer, 'the provisioner gave up', true);
    return {
      isReady: answer.status === 'ready',
      facts: {
        ...(answer.id !== undefined && { id: storableText(answer.id) }),
        ...(answer.runtime_base_url !== undefined && { runtime_base_url: storableText(answer.runtime_base_url) }),
      },
    };
  };

  return {
    resources: RESOURCES,

    async create(tenant, resource, signal) {
      const made = resourceOf(resource, await ask('PUT', tenant, resource, signal));
      if (made) return made;
      throw new ProvisionerError(
        'provisioner_malformed_answer',
        `${resource}: the provisioner's answer cannot be understood`,
      );
    },

    find: async (tenant, resource, signal) => {
      const answer = await ask('GET', tenant, resource, signal);
      return resourceOf(resource, answer);
    },

    async remove(tenant, resource, signal) {
      await ask('DELETE', tenant, resource, signal);
    },

    async reachRuntime(_tenant, made, signal) {
      const address = made.server?.runtime_base_url;
      if (!address) {
        throw new ProvisionerError('runtime_address_missing', 'the provisioner named no runtime_base_url', {
          isFinal: true,
        });
      }
      const { status } = await send(address, { redirect: 'manual', signal }).catch(() => ({ status: 599 }));
      if (status >= 500) throw new ProvisionerError('runtime_unreachable', 'the runtime does not answer');
      return address;
    },
  };
};

const refused = (
  resource: string,
  { code, message }: { code?: string | undefined; message?: string | undefined } = {},
  otherwise: string,
  isFinal: boolean,
): ProvisionerError =>
  new ProvisionerError(
    storableText(code ?? 'provisioner_refused'),
    storableText(`${resource}: ${message ?? otherwise}`),
    { isFinal },
  );
