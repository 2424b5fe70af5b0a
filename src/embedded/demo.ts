/**
 * Makes the parts of the demo: a service on a throw-away directory, and a webhook receiver that believes nothing it has
 * not verified.
 */
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { portOf } from '../platform/core/port.ts';
import { first } from '../platform/core/present.ts';
import { verifyWebhook } from '../resources/webhook-subscriptions/signature.ts';
import type { EmbeddedServers } from './start.ts';

/** These settings belong to a deployment that a demo must not touch; models and the Temporal CLI stay as they are. */
const NOT_THE_DEMOS =
  /^(DATABASE_|TEMPORAL_(?!CLI_PATH)|PGLITE_PORT|FILES_|SURFACES|WORKER_QUEUES|TASK_QUEUE_PREFIX|CONTROL_PLANE_|BASE_URL|SESSION_SECRET|ADMIN_SECRET|SECRETS_KEY|OPERATOR_TOKEN|IDENTITY_|OIDC_|DATA_DIR)/;

/** What a deployment is told, without what a demo must not touch. */
export const settingsOfDemo = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !NOT_THE_DEMOS.test(name)));

/** Starts the whole service on free ports; its one exception to the egress rules is the demo's own receiver. */
export async function startDemoService(env: NodeJS.ProcessEnv, receiverHost: string): Promise<EmbeddedServers> {
  const { startEmbedded } = await import('./start.ts');
  return startEmbedded(
    {
      ...settingsOfDemo(env),
      PORT: '0',
      CONTROL_PLANE_PORT: '0',
      LOG_LEVEL: env.LOG_LEVEL || 'error',
      WEBHOOK_ALLOW_HTTP: 'true',
      EGRESS_ALLOWLIST: receiverHost,
    },
    { dataDir: await mkdtemp(join(tmpdir(), 'aos-demo-')), throwAway: true },
  );
}

interface ReceivedWebhook {
  type: string;
  data: { project_id: string; title: string; status: string; cost_total_usd: string };
}

export interface WebhookReceiver {
  /** The address as host:port, for the egress allow-list. */
  host: string;
  url: string;
  /**
   * Resolves with the first delivery that the secret signed; rejects on one that it did not, and past the time.
   * Deliveries that came before are looked at too.
   */
  verified(secret: string, timeoutMs: number): Promise<ReceivedWebhook>;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<WebhookReceiver> {
  const received: { signature: string | undefined; body: Buffer }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({
        signature: request.headers['x-service-signature'] as string | undefined,
        // The bytes are kept as they came, because what is parsed and written again has another signature.
        body: Buffer.concat(chunks),
      });
      response.writeHead(204).end();
      server.emit('delivery');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${portOf(server)}`;

  return {
    host,
    url: `http://${host}/webhooks`,
    async verified(secret, timeoutMs) {
      if (received.length === 0) {
        await once(server, 'delivery', { signal: AbortSignal.timeout(timeoutMs) }).catch(() => {
          throw new Error(`no webhook arrived within ${timeoutMs / 1_000} s`);
        });
      }
      const { signature, body } = first(received);
      if (!verifyWebhook(secret, signature, body))
        throw new Error('the signature of the webhook does not fit its secret');
      return JSON.parse(body.toString('utf8')) as ReceivedWebhook;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
