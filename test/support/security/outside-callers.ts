/**
 * Everything in the product that reads what somebody outside sends, each ready to be pointed at an address. A file that
 * reads from outside names its callers in `test/architecture/bodies.test.ts`, so that none is missing here.
 */
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { createWebhookActivities } from '../../../activities/webhooks.ts';
import { present } from '../../../src/platform/core/present.ts';
import { createMailer } from '../../../src/platform/mail/mailer.ts';
import { createContainerSandbox } from '../../../src/platform/sandbox/container.ts';
import { createSlots } from '../../../src/platform/sandbox/slots.ts';
import { createModelRouter } from '../../../src/resources/billing/model-router/router.ts';
import { createStripeProvider } from '../../../src/resources/billing/stripe.ts';
import { createProbe } from '../../../src/resources/integrations/probe.ts';
import { httpPost } from '../../../src/resources/actions/builtin/http-post.ts';
import { createIdentityCaller } from '../../../src/resources/sign-in/identity.ts';
import { createOidc } from '../../../src/resources/sign-in/oidc.ts';
import { httpRequest } from '../../../src/resources/tools/builtin/http-request.ts';
import { webhook } from '../../../src/resources/tools/custom/webhook.ts';
import type { CustomTool } from '../../../src/resources/tools/model.ts';
import type { StartedAttempt, WebhookStore } from '../../../src/resources/webhook-subscriptions/store/index.ts';
import { createHttpProvisioner } from '../../../src/resources/workspaces/provisioners/http.ts';
import { clientsWithin, type Bounds } from './outside-clients.ts';

export interface Caller {
  name: string;
  /** Asks the server at this port of 127.0.0.1, and ends as it does for its own caller. */
  ask(port: number): Promise<unknown>;
  /** What it says when the size of the answer is its end, and when the time is. */
  says: { size: RegExp; time: RegExp };
  /** The body whose end is its size, where that is not the one of chunks. */
  endless?: string;
  /** It listens to a greeting: mail. */
  isGreeted?: true;
  /** It speaks no HTTP, or unpacks nothing: of the bodies only these are of another kind for it. */
  kinds?: RegExp;
}

/** A command that writes the body of what a server answers. */
const WITHOUT_HEAD = `
  const socket = require('node:net').connect(PORT, '127.0.0.1').on('error', () => {});
  socket.end('GET / HTTP/1.1\\r\\n\\r\\n').once('data', (head) => {
    process.stdout.write(head.subarray(head.indexOf('\\r\\n\\r\\n') + 4));
    socket.pipe(process.stdout);
  });`;
const RAW = /^(endless|endless, until the connection ends|an endless line|endless headers|two lengths|a drip|silence)$/;
const SIZE = /more than .* (MB|KB); (RESPONSE_MAX_MB|MODEL_MAX_OUTPUT_TOKENS) sets how much is taken/;
const time = (setting: string) => new RegExp(`within [\\d.]+ (seconds|s|ms).*${setting}|${setting}.*how long`);
/** What reads only the beginning of an answer is content with it. */
const CUT = /"(truncated|cut)":true|"status":/;

export function outsideCallers(bounds: Bounds): {
  callers: Caller[];
  close(): Promise<void>;
} {
  const { timeoutS, maxMb } = bounds;
  const {
    secret,
    log,
    config,
    signal,
    url,
    plain,
    egressTo,
    callModel,
    embed,
    contextOf,
    overMcp,
    onceStarted,
    output,
    totalMs,
    close,
  } = clientsWithin(bounds);
  const tenant = { workspaceId: 'acc_acme', customerId: 'acme', plan: 'free' as const };
  const modelTimes = time('MODEL_TIMEOUT');
  const identity = /identity_unreachable/;

  const callers: Caller[] = [
    {
      name: 'model: openai-compatible',
      ask: callModel('openai-compatible', (address) => ({ OPENAI_COMPATIBLE_BASE_URL: address })),
      says: { size: SIZE, time: modelTimes },
    },
    {
      name: 'model: a workspace’s own',
      ask: callModel('openai-compatible', () => ({}), true),
      says: { size: SIZE, time: modelTimes },
    },
    {
      name: 'model: openai',
      ask: callModel('openai', (address) => ({ OPENAI_API_KEY: 'key', OPENAI_BASE_URL: address })),
      says: { size: SIZE, time: modelTimes },
    },
    {
      name: 'model: anthropic',
      ask: callModel('anthropic', (address) => ({ ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: address })),
      says: { size: SIZE, time: modelTimes },
    },
    {
      name: 'embeddings: openai',
      ask: embed((address) => ({ EMBEDDING_PROVIDER: 'openai', OPENAI_API_KEY: 'key', OPENAI_BASE_URL: address })),
      says: { size: /more than 1 MB/, time: modelTimes },
    },
    {
      name: 'embeddings: openai-compatible',
      ask: embed((address) => ({ EMBEDDING_PROVIDER: 'openai-compatible', OPENAI_COMPATIBLE_BASE_URL: address })),
      says: { size: /more than 1 MB/, time: modelTimes },
    },
    {
      name: 'tool: http_request',
      ask: (port) => httpRequest.execute({ method: 'GET', url: url(port), timeout_s: timeoutS }, contextOf(port)),
      says: { size: CUT, time: time('timeout_s') },
    },
    {
      name: 'tool: webhook',
      ask: (port) =>
        webhook.execute(
          {
            slug: 'theirs',
            integration: null,
            effect: 'read',
            schema: { type: 'object', properties: {} },
            body: { url: url(port), method: 'GET', timeout_s: timeoutS },
          } as unknown as CustomTool,
          {},
          contextOf(port),
        ),
      says: { size: CUT, time: time('timeout_s') },
    },
    {
      name: 'action: http_post',
      ask: (port) =>
        httpPost.run({
          project: { id: 'p1', title: 'Bees', brief: '', params: { publish_url: url(port) } },
          inputs: { post: 'words' },
          artifacts: {},
          instructions: null,
          signal: AbortSignal.timeout(totalMs),
          fetch: egressTo(port).fetch,
        }),
      says: { size: CUT, time: /aborted due to timeout/ },
    },
    {
      name: 'mcp: address',
      ask: (port) => overMcp(port, {}, '/mcp'),
      says: { size: SIZE, time: /no answer within|still starting|no tools/ },
    },
    {
      name: 'mcp: address of the operator',
      ask: (port) => overMcp(port, { ours: { url: url(port, '/mcp'), headers: {} } }),
      says: { size: SIZE, time: /no answer within|still starting|no tools/ },
    },
    {
      name: 'mcp: a tool',
      // What is asked is the tool: on a busy machine its server may need a second beginning.
      ask: (port) => onceStarted(() => overMcp(port, {}, '/mcp-tool')),
      says: { size: SIZE, time: /no answer within/ },
    },
    {
      name: 'mcp: command',
      kinds: RAW,
      endless: 'endless, until the connection ends',
      ask: (port) =>
        overMcp(port, {
          ours: {
            command: process.execPath,
            args: ['-e', WITHOUT_HEAD.replace('PORT', String(port))],
            env: {},
          },
        }),
      says: {
        // The server ends the connection by itself, which may come before the limit.
        size:
          maxMb > 1
            ? /longer than RESPONSE_MAX_MB allows|the connection broke|its connection closed/
            : /longer than RESPONSE_MAX_MB allows/,
        time: /no answer within|still starting|no tools|the connection broke|its connection closed/,
      },
    },
    {
      name: 'provisioner',
      ask: (port) =>
        createHttpProvisioner({ url: url(port), token: 'token', timeoutMs: totalMs, fetch: plain }).create(
          tenant,
          'storage',
          signal,
        ),
      says: { size: SIZE, time: time('PROVISIONER_TIMEOUT') },
    },
    {
      name: 'provisioner: runtime',
      ask: (port) =>
        createHttpProvisioner({ url: url(port), token: 'token', timeoutMs: totalMs, fetch: plain }).reachRuntime(
          tenant,
          { server: { runtime_base_url: url(port) } },
          signal,
        ),
      says: { size: /runtime does not answer/, time: /runtime does not answer/ },
    },
    {
      name: 'model router',
      ask: (port) =>
        createModelRouter({ ...config, MODEL_ROUTER_URL: url(port), MODEL_ROUTER_PROVISIONING_KEY: 'key' }).mintKey(
          'acme',
          '1.00',
        ),
      says: { size: SIZE, time: time('RESPONSE_TIMEOUT') },
    },
    {
      name: 'stripe',
      ask: (port) => createStripeProvider('sk_test_1', { ...config, STRIPE_API_BASE: url(port) }).findPlan('plan_pro'),
      says: { size: SIZE, time: /timed out|timeout being reached|STRIPE_TIMEOUT/ },
    },
    {
      name: 'oidc: discovery',
      ask: (port) =>
        present(createOidc({ ...config, OIDC_ISSUER: url(port), OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b' })).depart(
          url(port),
        ),
      says: { size: identity, time: identity },
    },
    {
      name: 'oidc: token',
      ask: (port) =>
        present(
          createOidc({
            ...config,
            OIDC_ISSUER: url(port, '/tokens'),
            OIDC_CLIENT_ID: 'a',
            OIDC_CLIENT_SECRET: 'b',
          }),
        ).arrive(new URL(`https://here.example/login?code=c&state=s`), {
          state: 's',
          nonce: 'n',
          codeVerifier: 'v'.repeat(43),
        }),
      says: { size: SIZE, time: /timeout|timed out|RESPONSE_TIMEOUT/ },
    },
    {
      name: 'identity: keys',
      ask: (port) =>
        createIdentityCaller({
          settings: { ...config, IDENTITY_JWKS_URL: url(port), IDENTITY_ISSUER: 'i', IDENTITY_AUDIENCE: 'a' },
          members: { workspaceOfIdentity: async () => undefined, bindSubject: async () => {} },
          believedFrom: async () => 0,
        })(`${Buffer.from('{"alg":"RS256","kid":"k"}').toString('base64url')}.e30.c2ln`),
      says: { size: identity, time: identity },
    },
    {
      name: 'health: http',
      ask: (port) =>
        createProbe({ base: url(port), fetch: plain, allowlist: [], timeoutMs: totalMs, signal }).http({
          path: '/models',
        }),
      says: { size: CUT, time: time('RESPONSE_TIMEOUT') },
    },
    {
      name: 'health: smtp',
      isGreeted: true,
      ask: (port) =>
        createProbe({ base: '', fetch: plain, allowlist: [`127.0.0.1:${port}`], timeoutMs: totalMs, signal }).smtp({
          host: '127.0.0.1',
          port,
          user: 'a',
          password: 'b',
        }),
      says: { size: /response|greeting|timeout/i, time: /timeout/i },
    },
    {
      name: 'mail',
      isGreeted: true,
      ask: (port) =>
        createMailer({ SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'service@example.com' }, log).send({
          to: 'ana@example.com',
          subject: 'Hello',
          text: 'Hello',
        }),
      says: { size: /mail_failed/, time: /mail_failed/ },
    },
    {
      name: 'docker',
      kinds: RAW,
      ask: (port) =>
        createContainerSandbox({
          isOn: true,
          images: [],
          memoryBytes: 2 ** 26,
          processes: 32,
          slots: createSlots(20),
          dockerHost: `tcp://127.0.0.1:${port}`,
        }).run({ image: 'tools/known:1' }, { stdin: '', timeoutMs: totalMs, owner: 'acme', signal }),
      says: { size: /the answer has more than 16 MB/, time: /it was not done within/ },
    },
    {
      name: 'webhook delivery',
      ask(port) {
        const attempt = {
          number: 1,
          url: url(port),
          eventType: 'run.succeeded',
          body: '{}',
          customerId: 'acme',
          sealedSecret: 's',
          sealedPreviousSecret: null,
        } as unknown as StartedAttempt;
        let record: unknown;
        const store = {
          // Not asked for a place at its host, as that is not what is tried.
          loadTarget: async () => undefined,
          startAttempt: async () => attempt,
          recordAttempt: async (...given: unknown[]) => void (record = given),
        } as unknown as WebhookStore;
        const { deliverWebhook } = createWebhookActivities({
          store,
          secretBox: { open: () => secret } as never,
          fetch: egressTo(port).fetch,
          timeoutMs: totalMs,
          places: {} as never,
          log,
        });
        const ref = {} as Parameters<typeof deliverWebhook>[0];
        return asyncLocalStorage.run({ cancellationSignal: signal } as Context, () =>
          deliverWebhook(ref)
            .catch(() => {})
            .then(() => record),
        );
      },
      says: { size: /"statusCode":200/, time: /"statusCode":200|no answer within/ },
    },
    {
      name: 'output: webhook',
      ask: output((address) => ({ kind: 'webhook', config: { url: address } })),
      says: { size: /undefined/, time: /undefined|no answer within/ },
    },
    {
      name: 'output: slack',
      ask: output((address) => ({ kind: 'slack', config: { webhook_url: address } })),
      says: { size: /undefined/, time: /undefined|no answer within/ },
    },
    {
      name: 'output: s3',
      ask: output((address) => ({
        kind: 's3',
        config: {
          endpoint: address,
          region: 'eu-central-1',
          bucket: 'outputs',
          // Long ones: a secret of one letter is masked wherever that letter stands in what is said.
          access_key_id: 'an-access-key',
          secret_access_key: 'a-secret-key',
        },
      })),
      says: { size: /undefined|storage/, time: /undefined|no answer within/ },
    },
  ];
  return { callers, close };
}

/** By name, for the list of files that read. */
export const CALLERS: readonly string[] = outsideCallers({ timeoutS: 1, maxMb: 1 }).callers.map(({ name }) => name);
