/**
 * Asks providers. Addresses of the operator take plain requests; whatever a workspace names goes through the guard,
 * like everything else that tenants choose.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { fieldsOf } from '../../platform/core/record.ts';
import { withoutTrailingSlashes } from '../../platform/core/text.ts';
import type { GuardedFetch } from '../../platform/egress/egress.ts';
import { readCapped } from '../../platform/egress/read-capped.ts';
import { resolvePublic } from '../../platform/egress/resolve.ts';
import type { HealthStatus } from './model.ts';
import type { ProviderProbe, ProviderReply, ProviderRequest, SmtpLogin } from './provider.ts';

export interface ProbeOptions {
  /** The address of the integration's API. */
  base: string | undefined;
  /** It is plain for the operator's addresses, guarded for all others. */
  fetch: GuardedFetch;
  /** These host:port pairs may be reached although they are private. */
  allowlist: readonly string[];
  timeoutMs: number;
  signal: AbortSignal;
}

const MAX_REPLY_BYTES = 8_192;
const USER_AGENT = 'agent-orchestration-service';
const TLS_FROM_THE_START = 465;

export const createProbe = ({ base, fetch, allowlist, timeoutMs, signal }: ProbeOptions): ProviderProbe => ({
  async http({ path, method, headers, body }: ProviderRequest): Promise<ProviderReply> {
    if (!base) throw new Error('the address of the server is not set');
    const reply = await fetch(
      withoutTrailingSlashes(base) + path,
      {
        method: method ?? 'GET',
        headers: { 'user-agent': USER_AGENT, accept: 'application/json', ...headers },
        ...(body !== undefined && { body }),
        // A redirect is not followed, because a token is for the address that it was given for.
        redirect: 'manual',
        signal,
      },
      { totalMs: timeoutMs, raisedBy: { time: 'RESPONSE_TIMEOUT' } },
    );
    const { bytes } = await readCapped(reply, MAX_REPLY_BYTES);
    return { status: reply.status, headers: reply.headers, text: bytes.toString('utf8') };
  },

  async smtp({ host, port, user, password }: SmtpLogin): Promise<HealthStatus | undefined> {
    const { createTransport } = await import('nodemailer');
    const isTrusted = allowlist.includes(`${host}:${port}`);
    const address = isTrusted ? host : await resolvePublic(host);
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    // The connection is made here so that it ends when the time does: the library's own limits begin again with every
    // byte.
    const socket = connect({ host: address, port });
    const end = () => socket.destroy(deadline.reason as Error);
    deadline.addEventListener('abort', end, { once: true });
    const transport = createTransport({
      host: address,
      port,
      secure: port === TLS_FROM_THE_START,
      // A password crosses the internet under TLS or not at all.
      requireTLS: !isTrusted,
      tls: { servername: host },
      auth: { user, pass: password },
      getSocket: (_options, hand) => hand(null, { connection: socket }),
    });
    try {
      await once(socket, 'connect');
      await transport.verify();
      return 'ok';
    } catch (error) {
      const { code, responseCode } = fieldsOf(error);
      if (code === 'EAUTH' && typeof responseCode === 'number' && responseCode >= 500) return 'invalid';
      throw error;
    } finally {
      deadline.removeEventListener('abort', end);
      transport.close();
      socket.destroy();
    }
  },
});
