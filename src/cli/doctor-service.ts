/** Asks the running service what it is configured with and how it is, for `aos doctor`. What it says has no secret. */
import type { SystemHealth, SystemInfo } from '../../client/src/api.ts';
import { messageOf } from '../platform/core/causes.ts';
import { createServiceClient, findService, startLine, type ServiceClient } from './client.ts';
import { failed, ok, warning, type CheckResult } from './findings.ts';
import { MODEL_SETTINGS } from './models.ts';
import { OWN_VERSION } from './version.ts';
import { ServiceProblem } from './problems.ts';

type Operations = NonNullable<SystemInfo['operations']>;

const OPERATIONS = 'docs/operate/operations.md';

/** What to do about a part of its health that is not well. */
const PART_MENDS: Readonly<Record<string, string>> = {
  postgres: 'start the database, or correct DATABASE_URL; the log of the service has what it said',
  temporal:
    'start Temporal, or correct TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE; the log of the service has what it said',
  'workers.version': 'aos deployments list, then aos deployments set-current <build id>',
  files: 'see that DATA_DIR, or the bucket of FILES_S3_BUCKET, can be written to',
  disk: 'free at least 1 GB on the disk of DATA_DIR',
  mail: 'start the mail server, or correct SMTP_URL',
  billing: 'set STRIPE_SECRET_KEY, or another BILLING_MODE',
};
const mendOf = (part: string): string =>
  PART_MENDS[part] ??
  (part.startsWith('workers.')
    ? 'start a worker (node bin/worker.mjs) with the TASK_QUEUE_PREFIX and WORKER_QUEUES of the service'
    : `the log of the service says more; ${OPERATIONS} has what to do`);

export interface ServiceFindings {
  findings: CheckResult[];
  /** It told which models it has, so nobody needs to guess from the settings of this terminal. */
  toldModels: boolean;
}

export async function examineService(env: NodeJS.ProcessEnv): Promise<ServiceFindings> {
  const start = startLine(env.DATA_DIR || '.data');
  const address = await findService(env).catch(() => undefined);
  if (!address) {
    return { findings: [warning('service', 'none was started here', `start it: ${start}`)], toldModels: false };
  }
  const service = createServiceClient(address);
  const isNamed = Boolean(env.AOS_URL);
  const ready = await examineReadiness(service, isNamed, isNamed ? 'is AOS_URL right?' : `start it: ${start}`);
  if (ready.status !== 'ok') return { findings: [ready], toldModels: false };
  if (!service.session) {
    const mend = 'use `aos login`, or set AOS_SESSION, to see what it is configured with';
    return { findings: [ready, warning('session', 'there is none for this service', mend)], toldModels: false };
  }
  try {
    const [health, info] = await Promise.all([
      service.controlPlane<SystemHealth>('GET', '/v1/system/health'),
      service.controlPlane<SystemInfo>('GET', '/v1/system/info'),
    ]);
    return { findings: [ready, ...ofHealth(health), ...ofInfo(info)], toldModels: true };
  } catch (error) {
    const mend = 'use `aos login`, or set AOS_SESSION to a session of this service';
    return { findings: [ready, failed('session', messageOf(error), mend)], toldModels: false };
  }
}

/** @param isNamed somebody said that there is one at this address */
async function examineReadiness(service: ServiceClient, isNamed: boolean, mend: string): Promise<CheckResult> {
  try {
    await service.open('/readyz');
    return ok('service', `${service.baseUrl} is ready`);
  } catch (error) {
    return error instanceof ServiceProblem
      ? failed(
          'service',
          `${service.baseUrl} is not ready: ${String(error.status)}`,
          'see below, and the log of the service',
        )
      : (isNamed ? failed : warning)('service', messageOf(error), mend);
  }
}

/** Of the models its information says more. */
const ofHealth = ({ parts }: SystemHealth): CheckResult[] =>
  parts
    .filter(({ name }) => name !== 'models')
    .map(({ name, status, detail }) => {
      if (status === 'ok') return ok(`service ${name}`, detail ?? 'ok');
      const said = [status, detail].filter(Boolean).join(': ');
      return (status === 'down' ? failed : warning)(`service ${name}`, said, mendOf(name));
    });

/** A provider has dozens. */
const MOST_TOLD = 12;
const shortened = (models: readonly string[]): string => {
  const more = models.length - MOST_TOLD;
  return more > 0 ? `${models.slice(0, MOST_TOLD).join(', ')} and ${more} more` : models.join(', ');
};

function ofInfo({ version, node, models, operations }: SystemInfo): CheckResult[] {
  const { providers, available, unpriced } = models;
  return [
    version === OWN_VERSION
      ? ok('service version', `${version}, Node ${node}`)
      : warning(
          'service version',
          `${version}, but this is ${String(OWN_VERSION)}`,
          'start the service anew, or use its own aos',
        ),
    providers.length > 0
      ? ok('service models', shortened(available))
      : warning(
          'service models',
          'none configured: runs use the offline model',
          `set ${MODEL_SETTINGS} for real answers`,
        ),
    unpriced.length === 0
      ? ok('service prices', 'of all of them known')
      : warning(
          'service prices',
          `not known: ${unpriced.join(', ')}; with a budget or cap their calls are refused (model_unpriced)`,
          'set OPENAI_COMPATIBLE_PRICE (0 for a server of your own), or name them in the file of MODEL_CATALOGUE or MODEL_PRICES',
        ),
    ...(operations
      ? ofOperations(operations)
      : [ok('service settings', 'shown to members of the workspace that operates it')]),
  ];
}

const ofOperations = (has: Operations): CheckResult[] => [
  ok(
    'service uses Temporal',
    `${has.temporal_address ?? 'address not told'}, namespace ${has.temporal_namespace}, ${has.task_queues.join(', ')}`,
  ),
  ok('service keeps files', has.files === 's3' ? 'in a bucket (FILES_S3_BUCKET)' : 'below DATA_DIR'),
  ok('service sends mail', has.mail === 'smtp' ? 'by SMTP_URL' : 'written to the log; SMTP_URL sends it'),
  ok('service address', has.base_url ?? 'BASE_URL is not set: links in mails lead to this machine'),
  ok('service extensions', has.extensions.join(', ') || 'none (EXTENSIONS)'),
  has.late.length === 0
    ? ok('housekeeping', 'nothing is late')
    : warning(
        'housekeeping',
        has.late
          .map(({ chore, due, overdue_s: late }) => `${chore}: ${due} due, ${Math.round(late / 60)} min late`)
          .join('; '),
        `is a worker running? ${OPERATIONS}, AosChoresBehind, has what to do`,
      ),
];
