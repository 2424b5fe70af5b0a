/** The HTTP contract of the deployment itself: its health, its version, and reading its files anew. */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';
import { Timestamp } from '../../platform/http/schemas.ts';
import { BILLING_MODES } from '../billing/model.ts';
import { CAPPED_RESOURCES, PLANS } from '../workspaces/model.ts';
import { HEALTH, LOG_LEVELS } from './model.ts';

const SystemHealth = z
  .object({
    status: z.enum(HEALTH).describe('down: the database; degraded: anything else'),
    checked_at: Timestamp,
    parts: z.array(
      z.object({
        name: z
          .string()
          .describe('postgres, temporal, workers.<queue>, workers.version, files, disk, mail, models or billing'),
        status: z.enum(HEALTH),
        latency_ms: z.int(),
        detail: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'SystemHealth' });

export const getHealth = endpoint({
  id: 'system.health',
  path: '/v1/system/health',
  summary: 'How each part of the deployment is, looked at now',
  description: 'Answers 200 whatever it finds, within five seconds. For a load balancer there is `/readyz`.',
  reply: SystemHealth,
});

const SystemInfo = z
  .object({
    version: z.string(),
    node: z.string(),
    surfaces: z.string(),
    billing_mode: z.enum(BILLING_MODES),
    models: z.object({
      providers: z.array(z.string()).describe('Of the deployment; a workspace may have credentials of its own'),
      available: z.array(z.string()).describe('Model ids that agents can name without a credential of their own'),
      unpriced: z
        .array(z.string())
        .describe(
          'Those of them, and of the models that agents of the workspace name, whose price is not known: with a budget or cap their calls are refused',
        ),
    }),
    embedding: z.object({
      model: z.string(),
      dimensions: z.int(),
      languages: z
        .array(z.string())
        .readonly()
        .nullable()
        .describe('Whose meaning it knows; null: as its provider says'),
      scripts: z
        .array(z.string())
        .readonly()
        .nullable()
        .describe('It reads texts in these alone, and memories in others are found by their words; null: any script'),
    }),
    plan: z.object({
      plan: z.enum(PLANS),
      in_force: z.enum(PLANS).describe('Whose caps count: a plan that costs counts from its payment'),
      tier: z.string(),
      caps: z.record(z.enum(CAPPED_RESOURCES), z.int().nullable()).describe('Null: unlimited'),
    }),
    limits: z.object({
      json_body_bytes: z.int(),
      upload_files: z.int(),
      upload_bytes: z.int(),
      run_turns: z.int(),
      run_tokens: z.int(),
      run_detail_ttl_s: z.int(),
    }),
    operations: z
      .object({
        started_at: Timestamp,
        temporal_namespace: z.string(),
        temporal_address: z.string().nullable().describe('Host and port; null: not told'),
        task_queues: z.array(z.string()),
        files: z.enum(['local', 's3']),
        mail: z.enum(['log', 'smtp']),
        mcp_servers: z.array(z.string()),
        command_tools: z.string(),
        container_tools: z.string(),
        log_level: z.string(),
        public_visibility: z.boolean(),
        base_url: z.string().nullable().describe('Where people and their browsers reach it; null: not set'),
        extensions: z.array(z.string()),
        late: z
          .array(z.object({ chore: z.string(), due: z.int(), overdue_s: z.int() }))
          .describe('Chores of housekeeping that are more than two minutes behind'),
      })
      .optional()
      .describe('Shown to the workspace that operates the deployment'),
  })
  .meta({ id: 'SystemInfo' });

export const getInfo = endpoint({
  id: 'system.info',
  path: '/v1/system/info',
  summary: 'What this deployment is and what it allows',
  reply: SystemInfo,
  problems: ['not_found'],
});

const Reload = z
  .strictObject({
    log_level: z.enum(LOG_LEVELS).optional().describe('Least severe line that is logged, until the next start'),
  })
  .default({})
  .meta({ id: 'SystemReload' });

export const reload = endpoint({
  id: 'system.reload',
  path: '/v1/system/reload',
  credential: 'internal',
  summary: 'Read the files of MODEL_CATALOGUE, MODEL_PRICES and MCP_SERVERS anew, without a restart',
  description:
    'All of it or nothing: with a file that cannot be used everything stays as it was. It reaches the process that ' +
    'answers; send SIGHUP to the others where API and workers are apart.',
  body: Reload,
  badInput: 400,
  reply: z
    .object({
      reloaded: z.array(z.enum(['model_prices', 'model_catalogue', 'mcp_servers', 'log_level'])),
      mcp_servers: z.array(z.string()).describe('Those that there are now'),
      log_level: z.string(),
    })
    .meta({ id: 'SystemReloaded' }),
  problems: ['bad_request'],
});
