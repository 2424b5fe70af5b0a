/** What the callers of `outside-callers.ts` are made with: each part of the product as it is wired, pointed at a port of 127.0.0.1. */
import { loadConfig } from '../../../src/platform/core/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { createEgress } from '../../../src/platform/egress/egress.ts';
import { answerLimits, plainFetch } from '../../../src/platform/egress/limits.ts';
import { createMcpPool } from '../../../src/platform/mcp/pool.ts';
import { createEmbedder } from '../../../src/platform/models/embed.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import type { ModelCredentials, ResolvedModel } from '../../../src/platform/models/types.ts';
import type { DestinationTarget } from '../../../src/resources/output-destinations/contract.ts';
import { createOutputSender } from '../../../src/resources/output-destinations/send/sender.ts';
import { createMcpTools } from '../../../src/resources/tools/mcp.ts';
import type { ToolContext } from '../../../src/resources/tools/model.ts';

export interface Bounds {
  /** Of whatever has one. */
  timeoutS: number;
  /** Of whatever takes so much. */
  maxMb: number;
}

export function clientsWithin({ timeoutS, maxMb }: Bounds) {
  const secret = 'only-for-this-test-only';
  const log = createLog({ level: 'silent', pretty: false });
  const [totalMs, patience] = [timeoutS * 1_000, `${timeoutS}s`];
  const configFor = (env: Record<string, string> = {}) =>
    loadConfig({
      DATABASE_URL: 'postgres://localhost/x',
      SESSION_SECRET: secret,
      ADMIN_SECRET: secret,
      SECRETS_KEY: secret,
      RESPONSE_MAX_MB: String(maxMb),
      RESPONSE_TIMEOUT: patience,
      MODEL_TIMEOUT: patience,
      STRIPE_TIMEOUT: patience,
      MCP_TIMEOUT: patience,
      ...(env['EMBEDDING_PROVIDER'] && { EMBEDDING_DIMENSIONS: '8', EMBEDDING_MODEL: 'text-embedding-3-small' }),
      ...env,
    });
  const config = configFor();
  const closing: { close(): Promise<unknown> }[] = [];
  const { signal } = new AbortController();
  const url = (port: number, path = '') => `http://127.0.0.1:${port}${path}`;
  const plain = plainFetch(config);
  const egressTo = (port: number) => {
    const egress = createEgress({ allowlist: [`127.0.0.1:${port}`], allowHttp: true, limits: answerLimits(config) });
    closing.push(egress);
    return egress;
  };

  const callModel =
    (provider: ResolvedModel['provider'], env: (address: string) => Record<string, string>, isTheirs = false) =>
    (port: number): Promise<unknown> => {
      const address = url(port, '/v1');
      const models = createModels(configFor(env(address)), { log, guardedFetch: egressTo(port).fetch });
      const own: ModelCredentials = isTheirs ? { 'openai-compatible': { baseUrl: address, model: 'm' } } : {};
      return models.call({
        resolved: {
          model: 'm',
          provider,
          tier: 'standard',
          rule: 'agent_default',
          enforce: false,
          reasoning: false,
          contextWindow: 8_000,
        },
        credentials: models.credentials(own),
        messages: [{ role: 'user', content: 'hello' }],
        system: '',
        tools: [],
        maxOutputTokens: 100,
        timeoutMs: totalMs,
        signal,
      });
    };
  const embed =
    (env: (address: string) => Record<string, string>) =>
    (port: number): Promise<unknown> =>
      createEmbedder(configFor(env(url(port, '/v1'))), {}).embed(['hello']);

  const contextOf = (port: number): ToolContext => ({
    customerId: 'acme',
    runId: 'run1',
    callId: 'call1',
    agent: 'researcher',
    signal,
    fetch: egressTo(port).fetch,
    credential: async () => undefined,
    files: {} as ToolContext['files'],
    now: () => new Date(),
    saveArtifact: async () => ({ artifactId: 'a' }),
  });

  const overMcp = (port: number, operators: Record<string, unknown>, path?: string): Promise<unknown> => {
    const pool = createMcpPool({
      servers: new Map(Object.entries(operators)) as Parameters<typeof createMcpPool>[0]['servers'],
      guardedFetch: egressTo(port).fetch,
      settings: config,
      log,
    });
    closing.push(pool);
    const serversOf = async () => (path === undefined ? [] : [{ name: 'theirs', url: url(port, path) }]);
    const tools = createMcpTools({ pool, serversOf, timeoutMs: totalMs });
    const call = async () => {
      const [read] = await tools.find('acme', [`mcp.${path === undefined ? 'ours' : 'theirs'}.read`]);
      if (!read) throw new Error('it has no tools');
      return read.execute({}, contextOf(port));
    };
    return call().finally(() => pool.close());
  };

  const onceStarted = (ask: () => Promise<unknown>, tries = 5): Promise<unknown> =>
    ask().catch((error: Error) => {
      if (tries === 1 || !error.message.includes('still starting')) throw error;
      return onceStarted(ask, tries - 1);
    });

  const output =
    (targetOf: (address: string) => DestinationTarget) =>
    (port: number): Promise<unknown> =>
      createOutputSender({
        fetch: egressTo(port).fetch,
        mailer: undefined,
        sign: () => 't=1',
        linkTo: () => '',
        timeoutMs: totalMs,
      })(targetOf(url(port)), {
        deliveryId: 'd1',
        project: { id: 'p1', title: 'Bees', workflowSlug: 'blog-post', workflowVersion: 1 },
        artifact: {
          id: 'a1',
          phaseSlug: 'draft',
          version: 1,
          schemaSlug: 'text',
          content: 'words',
          createdAt: new Date(),
        },
        isSample: false,
      });

  return {
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
    close: async () => void (await Promise.all(closing.map((one) => one.close()))),
  };
}
