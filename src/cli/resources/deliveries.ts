/** Declares the commands for what goes out and what happens by itself: `aos webhooks`, `aos outputs`, `aos jobs`. */
import {
  createDestination,
  deleteDestination,
  getDestination,
  listDeliveries as listOutputDeliveries,
  listDestinations,
  redeliver as redeliverOutput,
  testDestination,
  updateDestination,
} from '../../resources/output-destinations/contract.ts';
import {
  createJob,
  deleteJob,
  listJobs,
  updateJob,
  uploadJobAttachments,
} from '../../resources/scheduled-jobs/contract.ts';
import {
  createEndpoint,
  deleteEndpoint,
  listDeliveries,
  listEndpoints,
  redeliver,
  resumeEndpoint,
  rotateSecret,
} from '../../resources/webhook-subscriptions/contract.ts';
import { describeAttachment } from '../attached.ts';
import { command, group, list, type ReplyOf } from '../commands.ts';
import { fieldLines } from '../fields.ts';
import { readFields } from '../input.ts';
import { paint, shorten, shortTime } from '../output.ts';

interface Receiver {
  paused_at: string | null;
  failing_since: string | null;
}
const stateOf = ({ paused_at, failing_since }: Receiver, isOn: boolean, on: string): string =>
  paused_at ? 'paused' : isOn ? (failing_since ? 'failing' : on) : 'off';

export const webhooks = group(
  'webhooks',
  'programs that are told of events, and what came of it',
  [
    list('list', listEndpoints, {
      about: 'the URLs',
      columns:
        'ID> id, STATE, EVENTS events, MADE (UTC)? created_at, FAILING SINCE? failing_since, DESCRIPTION? description, URL url',
      cells: { STATE: (row) => stateOf(row, row.active, 'active') },
      empty: 'no webhooks; add one with: aos webhooks create https://example.com/hook',
    }),
    command('create <url>', createEndpoint, {
      about: 'register a URL; its secret is shown once',
      flags: {
        events: '-e, --events <names> | with commas between; by default all of them',
        description: '-d, --description <text> | whose it is',
      },
      say: ({ id, secret }) => `webhook ${id} is made; its secret, shown once: ${secret}`,
    }),
    command('resume <id>', resumeEndpoint, {
      about: 'switch one on again that was paused',
      say: (_, { id }) => `webhook ${id} is on`,
    }),
    command('rotate <id>', rotateSecret, {
      about: 'a new secret; the old one signs along for 24 hours',
      json: ({ secret }, { id }) => ({ id, secret }),
      say: ({ secret }, { id }) => `the new secret of webhook ${id}, shown once: ${secret}`,
    }),
    command('delete <id>', deleteEndpoint, {
      about: 'and drop what is queued for it',
      say: (_, { id }) => `webhook ${id} is deleted`,
    }),
    list('deliveries', listDeliveries, {
      about: 'what was posted, newest first',
      flags: {
        status: '-s, --status <status> | in this state',
        endpoint: '--endpoint <id> | to this one',
        limit: '-n, --limit <count> = 20 | how many',
      },
      columns:
        'DELIVERY id, STATUS status, EVENT event_type, ATTEMPTS> attempt_count, LAST, MADE (UTC) created_at, URL? url',
      cells: {
        LAST({ attempts }) {
          const last = attempts.toSorted((a, b) => a.attempt - b.attempt).at(-1);
          return last && shorten(last.error ?? String(last.status_code), 40);
        },
      },
      empty: 'nothing was posted',
    }),
    command('redeliver <delivery>', redeliver, {
      about: 'post one once more',
      say: (_, { delivery }) => `${delivery} is posted once more`,
    }),
  ],
  'Examples:\n  aos webhooks create https://example.com/hook --events run.succeeded,run.failed\n  aos webhooks deliveries --status exhausted',
);

type Destination = ReplyOf<typeof getDestination>;

const hears = ({ artifacts, waits, spending }: Pick<Destination, 'artifacts' | 'waits' | 'spending'>): string =>
  [artifacts && 'artifacts', waits && 'waits', spending && 'spending'].filter(Boolean).join(',');
const nowIs = (changed: Destination): string =>
  `${changed.name} is ${changed.enabled ? 'on' : 'off'}, and hears of ${hears(changed) || 'nothing'}`;
const linesOf = (reply: unknown): string => fieldLines(reply).join('\n');

export const outputs = group(
  'outputs',
  'where artifacts and notices are sent: Slack, mail, a webhook, S3',
  [
    list('list', listDestinations, {
      about: 'the destinations, without secrets',
      columns: 'ID id, NAME name, KIND kind, STATE, HEARS OF, WORKFLOWS?, FAILING SINCE? failing_since',
      cells: {
        STATE: (row) => stateOf(row, row.enabled, 'on'),
        'HEARS OF': hears,
        WORKFLOWS: (row) => row.workflow_slugs?.join(',') ?? 'all',
      },
      empty: 'no destinations; `aos outputs --help` shows how one is made',
    }),
    command('show <id>', getDestination, { about: 'one of them, without secrets', say: linesOf }),
    command('create <file>', createDestination, {
      about: 'make one from JSON or YAML: name, kind, config; - reads standard input',
      fields: ({ file }) => readFields(file),
      say: ({ name, id }) => `${name} is made; try it: aos outputs test ${id}`,
    }),
    command('update <id> <file>', updateDestination, {
      about: 'change what the JSON or YAML names; - reads standard input',
      fields: ({ file }) => readFields(file),
      say: nowIs,
    }),
    command('enable <id>', updateDestination, {
      about: 'switch it on',
      fields: () => ({ enabled: true }),
      say: nowIs,
    }),
    command('disable <id>', updateDestination, {
      about: 'switch it off',
      fields: () => ({ enabled: false }),
      say: nowIs,
    }),
    command('test <id>', testDestination, { about: 'send it a sample', say: linesOf }),
    command('delete <id>', deleteDestination, { about: 'and its log' }),
    list('deliveries', listOutputDeliveries, {
      about: 'what was sent, newest first',
      flags: {
        status: '-s, --status <status> | in this state',
        destination_id: '-d, --destination <id> | to this one',
        limit: '-n, --limit <count> = 20 | how many',
      },
      columns: 'DELIVERY id, TO destination, STATUS status, OF, RECIPIENT? recipient, ARTIFACT? artifact_id',
      cells: { OF: (row) => row.notice ?? row.project_id },
      empty: 'nothing was sent',
    }),
    command('redeliver <delivery>', redeliverOutput, {
      about: 'send one once more',
      say: (_, { delivery }) => `${delivery} is sent once more`,
    }),
  ],
  `Examples:\n  echo '{"name":"team","kind":"slack","config":{"webhook_url":"https://hooks.slack.com/..."},"waits":true,"spending":true}' | aos outputs create -\n  aos outputs deliveries --status failed`,
);

const JOB_FLAGS = {
  brief: '-b, --brief <text> | what the agent is told',
  model: '-m, --model <id> | model id, or auto',
  reasoning: '--reasoning <mode> | let the model think first, or auto',
  output_schema: '--schema <path> | a file with the JSON Schema of its answers, in JSON or YAML; none takes it away',
} as const;
const runsNext = ({ id, enabled, next_run_at }: ReplyOf<typeof updateJob>): string =>
  enabled ? `${id} runs next at ${shortTime(next_run_at)} UTC` : `${id} is disabled`;

export const jobs = group(
  'jobs',
  'scheduled jobs: those that ship, and those of the workspace',
  [
    list('list', listJobs, {
      about: 'all of them, with when each runs next',
      columns: 'ID id, KIND kind, AGENT agent, WHEN (UTC) schedule, ENABLED, NEXT (UTC) next_run_at, FOR',
      cells: {
        ENABLED: (row) => (row.enabled ? 'yes' : 'no'),
        FOR: (row) => shorten(row.name ?? row.description, 60),
      },
      paint: { ENABLED: (text, row) => paint(row.enabled ? 'green' : 'gray', text) },
      empty: 'no jobs',
    }),
    command('create <name> <cron> <agent>', createJob, {
      about: 'run an agent with a brief at the times of a cron expression, UTC',
      flags: { ...JOB_FLAGS, disabled: '--disabled | do not run it yet' },
      file: 'brief',
      fields: ({ agent, disabled, ...given }) => ({ ...given, agent_slug: agent, enabled: !disabled }),
      say: ({ id }, { agent, cron, disabled }) =>
        `${id}: ${agent} runs at ${cron} UTC${disabled ? ' once it is enabled' : ''}`,
    }),
    command('enable <id>', updateJob, {
      about: 'run it from now on',
      fields: () => ({ enabled: true }),
      say: runsNext,
    }),
    command('disable <id>', updateJob, {
      about: 'do not run it until it is enabled again',
      fields: () => ({ enabled: false }),
      say: runsNext,
    }),
    command('update <id>', updateJob, {
      about: 'change what is given, and nothing else; of a job that ships only when it runs',
      flags: { cron: '-c, --cron <expression> | when, UTC', name: '-n, --name <name> | its name', ...JOB_FLAGS },
      file: 'brief',
      say: runsNext,
    }),
    command('delete <id>', deleteJob, { about: 'its runs stay' }),
    command('attach <id> <files...>', uploadJobAttachments, {
      about: 'put files beside a job, for its runs to read',
      say: ({ data }) => data.map(describeAttachment).join('\n'),
    }),
  ],
  'Examples:\n  aos jobs create "Morning report" "0 6 * * 1-5" analyst --brief "What happened to our metrics overnight?"\n  aos jobs enable daily-digest\n  aos jobs update daily-digest --cron "30 7 * * *"',
);
