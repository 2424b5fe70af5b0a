/** docker-compose.yml: a valid description of services that have the settings they read and the files they name. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DCLinter } from 'dclint';
import ms, { type StringValue } from 'ms';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { loadConfig } from '../../src/platform/core/config.ts';
import { settings } from '../../src/platform/core/settings.ts';
import { present } from '../../src/platform/core/present.ts';
import { ownVersion } from '../../src/platform/temporal/deployments.ts';

interface Service {
  image: string;
  build?: string;
  command?: string[];
  restart?: string;
  stop_grace_period?: StringValue;
  environment: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
}

const fileAt = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (path: string) => readFileSync(fileAt(path), 'utf8');
const parsed = () => parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> };
const { services } = parsed();
const all = Object.entries(services);
const own = ['api', 'worker', 'migrations'] as const;

/** As compose fills in `${NAME:?why}`, `${NAME:-fallback}` and nothing else. */
const interpolate = (text: string, given: Record<string, string>): string =>
  text.replace(/\$\{(\w+)(?::\?[^}]*|:-([^}]*))\}/g, (_whole, name: string, fallback?: string) => {
    const value = given[name] ?? fallback;
    if (value === undefined) throw new Error(`${name} is required`);
    return value;
  });
const environmentOf = (name: string, given: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(present(services[name]).environment).map(([key, text]) => [key, interpolate(text, given)]),
  );
const SECRETS = {
  POSTGRES_PASSWORD: 'p'.repeat(48),
  SESSION_SECRET: 's'.repeat(44),
  ADMIN_SECRET: 'a'.repeat(44),
  SECRETS_KEY: 'k'.repeat(44),
};

describe('schema', () => {
  // Its rules of order and quoting are a matter of taste; the schema is checked before any of them.
  const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] });
  const faultsOf = (path: string) =>
    linter
      .lintFiles([path], false)
      .flatMap(({ messages }: { messages: { rule: string }[] }) => messages)
      .filter(({ rule }: { rule: string }) => /^(invalid|no-duplicate)/.test(rule));
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'compose-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  // Guards: every key is one that the compose specification has, and has its form.
  test('the file is valid', () => {
    expect(faultsOf(fileAt('docker-compose.yml'))).toEqual([]);
    expect(faultsOf(fileAt('docker-compose.rolling.yml'))).toEqual([]);
  });

  // Guards: the check above can fail.
  test.each([{ comand: ['node'] }, { command: [{ a: 1 }] }, { depends_on: { api: { condition: 'service_ready' } } }])(
    'a service with %j is refused',
    async (mistake) => {
      const broken = parsed();
      Object.assign(present(broken.services.api), mistake);
      const path = join(folder, 'docker-compose.yml');
      await writeFile(path, stringify(broken));
      expect(faultsOf(path)).toMatchObject([{ rule: 'invalid-schema' }]);
    },
  );
});

// Guards: every image is pinned, so that an upgrade is a change of this file and never a side effect of a rebuild.
test.each(all)('the image of %s has a version', (_name, { image }) => {
  expect(image).toMatch(/^[\w./-]+:v?\d+\.\d+\.\d+(-[\w.]+)?$/);
});

describe('settings', () => {
  const theirs: Record<string, string[]> = {
    postgres: ['POSTGRES_USER', 'POSTGRES_PASSWORD', 'POSTGRES_DB'],
    'temporal-schema': ['SQL_PLUGIN', 'SQL_HOST', 'SQL_PORT', 'SQL_USER', 'SQL_PASSWORD'],
    temporal: [
      ...['DB', 'DB_PORT', 'POSTGRES_SEEDS', 'POSTGRES_USER', 'POSTGRES_PWD'],
      ...['BIND_ON_IP', 'NUM_HISTORY_SHARDS', 'DYNAMIC_CONFIG_FILE_PATH'],
    ],
    'temporal-namespace': ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'],
    'temporal-ui': ['TEMPORAL_ADDRESS', 'TEMPORAL_CODEC_ENDPOINT', 'TEMPORAL_CODEC_INCLUDE_CREDENTIALS'],
    grafana: [
      ...['GF_AUTH_ANONYMOUS_ENABLED', 'GF_AUTH_ANONYMOUS_ORG_ROLE', 'GF_ANALYTICS_REPORTING_ENABLED'],
      'GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION',
    ],
  };
  // Those of Temporal's client and of OpenTelemetry are read by their own libraries.
  const ours = [
    ...Object.keys(settings.shape),
    ...['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_HEADERS'],
    ...['OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG'],
  ];

  // Guards: no service is given a setting that nothing reads, because a misspelt setting would silently be the default.
  test.each(all)('%s has only settings that it reads', (name, { environment = {} }) => {
    const known = (own as readonly string[]).includes(name) ? ours : (theirs[name] ?? []);
    expect(known).toEqual(expect.arrayContaining(Object.keys(environment)));
  });

  // Guards: with the required secrets and nothing else, each process of ours starts.
  test.each(own)('%s is configured', (name) => {
    const config = loadConfig(environmentOf(name, SECRETS));
    expect(config).toMatchObject({
      SURFACES: 'all',
      WORKER_QUEUES: [],
      EGRESS_ALLOWLIST: [],
      WEBHOOK_ALLOW_HTTP: false,
    });
    expect(ms(services[name]!.stop_grace_period!)).toBeGreaterThan(config.SHUTDOWN_GRACE);
  });

  // Guards: a secret has no default, so that no two deployments share one.
  test.each(Object.keys(SECRETS))('%s is required', (secret) => {
    const { [secret as keyof typeof SECRETS]: _left, ...others } = SECRETS;
    expect(() => environmentOf('api', others)).toThrow(`${secret} is required`);
    expect(read('docker-compose.yml')).toMatch(new RegExp(`\\$\\{${secret}:\\?[^}]+\\}`));
  });

  // Guards: the worker can open, check and find what the API seals, signs and queues.
  test('API and worker agree', () => {
    const { CONTROL_PLANE_HOST, ...api } = present(services.api).environment;
    expect(CONTROL_PLANE_HOST).toBe('0.0.0.0');
    expect(present(services.worker).environment).toEqual(api);
    expect(present(services.worker).volumes).toEqual(present(services.api).volumes);
  });
});

// Guards: other machines can reach the gateway and nothing else.
test('ports', () => {
  const open = all.flatMap(([, { ports = [] }]) => ports).filter((port) => !port.startsWith('127.0.0.1:'));
  expect(open).toEqual(['8080:8080']);
});

// Guards: services wait for conditions that can come true: a health check that exists, or a job that ends.
test.each(all)('%s waits for conditions that can be met', (_name, { depends_on = {} }) => {
  for (const [name, { condition }] of Object.entries(depends_on)) {
    const awaited = present(services[name]);
    if (condition === 'service_healthy') expect(awaited.healthcheck).toBeDefined();
    else expect([condition, awaited.restart]).toEqual(['service_completed_successfully', 'on-failure:5']);
  }
});
test('the health check of the API asks whether it is ready', () => {
  expect(services.api!.healthcheck!.test.join(' ')).toContain('http://127.0.0.1:8080/readyz');
});

describe('files', () => {
  const named = all.flatMap(([, { command = [], environment = {} }]) => [
    ...command,
    environment.DYNAMIC_CONFIG_FILE_PATH,
  ]);
  const paths = named
    .filter((text) => /\.(ts|sh|yaml)$/.test(text ?? ''))
    .map((text) => present(text).replace(/^\//, ''));

  // Guards: the commands and mounts name files that are there.
  test('exist', () => {
    expect(new Set(paths)).toEqual(
      new Set([
        ...['src/api.ts', 'src/worker.ts', 'src/migrate.ts'],
        ...['deploy/temporal-schema.sh', 'deploy/temporal-namespace.sh', 'deploy/temporal-dynamic-config.yaml'],
      ]),
    );
    expect(paths.filter((path) => !existsSync(fileAt(path)))).toEqual([]);
  });

  // Guards: the server polls without the pause that would make every step of a workflow 50 ms slower.
  test('dynamic configuration', () => {
    const config = parse(read('deploy/temporal-dynamic-config.yaml')) as Record<string, { value: unknown }[]>;
    expect(config).toMatchObject({
      'history.transferProcessorMaxPollRPS': [{ value: 2000 }],
      'history.timerProcessorMaxPollRPS': [{ value: 2000 }],
    });
  });
});

// Guards: two versions of one deployment run side by side, each from the image of its version.
test('a rolling upgrade', () => {
  type Extended = Service & { extends?: { service: string } };
  const { services: rolling } = parse(read('docker-compose.rolling.yml')) as { services: Record<string, Extended> };
  const workers = Object.values(rolling).filter((service) => service.extends?.service === 'worker');
  const versions = workers.map(({ image, environment }) => {
    const version = present(ownVersion(loadConfig({ ...environmentOf('worker', SECRETS), ...environment })));
    expect(image).toBe(`agent-orchestration-service:${version.buildId}`);
    return version;
  });
  expect(new Set(versions.map(({ buildId }) => buildId)).size).toBe(2);
  expect(new Set(versions.map(({ deployment }) => deployment))).toEqual(
    new Set([present(rolling.api).environment.WORKER_DEPLOYMENT]),
  );
});
