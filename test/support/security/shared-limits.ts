/**
 * Every lock, limit, queue and cap that more than one caller meets: who may move it, and whom it stops. A row is needed for
 * each that the source has (`sharedInSource`), and each row names the tests of both.
 */
import { globSync, readFileSync } from 'node:fs';
import { PROBLEMS } from '../../../src/platform/core/problem.ts';
import { settings } from '../../../src/platform/core/settings.ts';

export interface SharedLimit {
  /** Who can use it up, or hold it. */
  movedBy: string;
  /** Nobody else is refused or waits. */
  stops: string;
  /** What the source has of it, as `sharedInSource` names it. */
  has: readonly string[];
  /** Files of tests, with a text of one in each that shows whom it stops and whom it spares. */
  tests: Readonly<Record<string, string>>;
}

const SHARED_LIMITS_TEST = 'test/security/shared-limits.test.ts';

export const SHARED_LIMITS: Readonly<Record<string, SharedLimit>> = {
  'wrong confirmation codes in a row': {
    movedBy: 'a person with a session, or the bearer of an action link',
    stops: 'confirmations of this person, or by this link',
    has: ['table otp_holder_locks', 'problem otp_locked'],
    tests: {
      'test/resources/otp/attacks.test.ts': 'nothing that one person does keeps another one from confirming',
      'test/resources/inbox/link-limits.test.ts': 'is guessed at by its link, and locks its link alone',
    },
  },
  'open confirmation codes': {
    movedBy: 'a person with a session, or the bearer of an action link',
    stops: 'the oldest code of this person, or of this link',
    has: [],
    tests: {
      'test/resources/otp/attacks.test.ts': 'nothing that one person does keeps another one from confirming',
      'test/resources/inbox/link-limits.test.ts': 'ends no code of anybody else',
    },
  },
  'mails of confirmation codes': {
    movedBy: 'persons and bearers of links, each beyond their first ones',
    stops: 'further mails to the same inbox; each person has three, each link one, whatever others had',
    has: ['problem otp_mail_limit', 'setting OTP_MAILS_PER_HOUR'],
    tests: {
      'test/resources/otp/attacks.test.ts': 'leave each person some of their own',
      'test/resources/inbox/link-limits.test.ts': 'ends no code of anybody else',
    },
  },
  'the lock on an inbox of confirmation codes': {
    movedBy: 'a request for a code to this inbox, for one statement',
    stops: 'requests for a code to the same inbox',
    has: ['advisory lock in src/resources/otp/store.ts'],
    tests: { [SHARED_LIMITS_TEST]: 'the lock on an inbox of confirmation codes' },
  },
  'requests for an action link, by link and by client': {
    movedBy: 'a client that asks for it',
    stops: 'requests for the same link; requests of the same network',
    has: ['limiter in src/resources/inbox/link-routes.ts'],
    tests: {
      'test/resources/inbox/link-limits.test.ts': 'for one link are counted together, however its address is written',
    },
  },
  'wrong codes of sign-in in a row': {
    movedBy: 'anybody who knows the address',
    stops: 'codes of this address in browsers that it has not used; neither its links nor its known browsers',
    has: ['table login_locks'],
    tests: {
      'test/resources/sign-in/attacks.test.ts':
        'locks codes of strangers, and neither the links nor the browsers of the owner',
    },
  },
  'mails of sign-in': {
    movedBy: 'anybody who knows the address',
    stops: 'further mails to this address, whose earlier links stay good; not those that a known browser asks for',
    has: [],
    tests: {
      'test/resources/sign-in/attacks.test.ts':
        'does not use up the mails of a browser that the owner has signed in with',
    },
  },
  'the lock on an address that signs in': {
    movedBy: 'a request of sign-in with this address, for one transaction',
    stops: 'sign-in with the same address',
    has: ['advisory lock in src/resources/sign-in/store.ts'],
    tests: { [SHARED_LIMITS_TEST]: 'the lock on an address that signs in' },
  },
  'cut-offs of sessions': {
    movedBy: 'a person who signs out everywhere, an admin, whoever makes the workspace again',
    stops: 'sessions of the person, or of the workspace, that began before',
    has: ['table session_cutoffs'],
    tests: {
      'test/resources/sign-in/sessions.test.ts': 'what begins in the second of a cut-off, and after it, is good',
    },
  },
  'mails of artifacts, and questions to recipients': {
    movedBy: 'members of a workspace',
    stops: 'mails of this workspace on this day; questions of all workspaces to one address',
    has: ['table output_mail_counts', 'setting OUTPUT_MAILS_PER_DAY'],
    tests: { 'test/resources/output-destinations/recipients.test.ts': 'are limited for a workspace and day' },
  },
  'deploy tokens': {
    movedBy: 'owners and admins of a workspace',
    stops: 'further tokens of this workspace',
    has: ['problem too_many_tokens'],
    tests: { [SHARED_LIMITS_TEST]: 'deploy tokens' },
  },
  'caps of a plan': {
    movedBy: 'members, keys and agents of a workspace',
    stops: 'what this workspace makes further',
    has: ['table usage_counters', 'problem plan_limit_exceeded'],
    tests: {
      'test/security/caps.test.ts': '%s comes to its cap and no further',
      [SHARED_LIMITS_TEST]: 'caps of a plan',
    },
  },
  'live streams': {
    movedBy: 'whoever reads a workspace, up to its own number',
    stops:
      'further streams of this workspace; of all at the number of the process, which a workspace reaches with others only',
    has: ['problem too_many_streams', 'setting LIVE_STREAMS', 'setting LIVE_STREAMS_PER_WORKSPACE'],
    tests: { 'test/resources/live/follow.test.ts': 'limits how many there are' },
  },
  'slots at the hosts of receivers': {
    movedBy: 'deliveries of a workspace to a host',
    stops: 'further deliveries of this workspace to this host; it has half of the slots at most',
    has: ['table delivery_slots', 'advisory lock in src/resources/receivers/store.ts', 'setting DELIVERIES_PER_HOST'],
    tests: { [SHARED_LIMITS_TEST]: 'slots at the hosts of receivers' },
  },
  'the lock on versions of a workflow': {
    movedBy: 'a member who makes a version of it, for one transaction',
    stops: 'further versions of the same workflow',
    has: ['advisory lock in src/resources/templates/store.ts'],
    tests: { [SHARED_LIMITS_TEST]: 'the lock on versions of a workflow' },
  },
  'the lock on a conversation': {
    movedBy: 'a run that is accepted in it, for one statement',
    stops: 'runs of the same conversation',
    has: ['advisory lock in src/resources/runs/store/accept.ts'],
    tests: { [SHARED_LIMITS_TEST]: 'the lock on a conversation' },
  },
  'commands on a project': {
    movedBy: 'callers who command this project',
    stops: 'commands on the same project, until it has taken the ones before',
    has: ['queue in src/resources/projects/requests/send.ts'],
    tests: {
      'test/resources/projects/requests/queue.test.ts':
        'goes one after another for a key, and beside each other for two',
    },
  },
  'changes at the billing provider': {
    movedBy: 'a change of the plan or wallet of a workspace; an event about one thing at the provider',
    stops: 'further ones of the same workspace, or about the same thing',
    has: [
      'table billing_leases',
      'problem billing_change_in_progress',
      'advisory lock in src/resources/billing/store.ts',
    ],
    tests: { 'test/resources/billing/lease.test.ts': 'one after another' },
  },
  'archives of a workspace': {
    movedBy: 'owners of this workspace',
    stops: 'further archives of this workspace; with the embedded database those of others too, which are read in turn',
    has: ['problem export_under_way', 'queue in src/resources/exports/archive/source.ts'],
    tests: { [SHARED_LIMITS_TEST]: 'archives of a workspace' },
  },
  'the lock on an integration': {
    movedBy: 'a member who changes a credential or address of it, for one transaction',
    stops: 'changes of the same integration of the same workspace',
    has: ['advisory lock in src/resources/integrations/store.ts'],
    tests: { [SHARED_LIMITS_TEST]: 'the lock on an integration' },
  },
  'credentials that are rotated': {
    movedBy: 'members of this workspace',
    stops: 'another rotation of the same secret',
    has: ['problem rotation_under_way'],
    tests: { [SHARED_LIMITS_TEST]: 'credentials that are rotated' },
  },
  'reminders of a wait': {
    movedBy: 'members of this workspace',
    stops: 'another reminder of the same wait',
    has: ['problem reminded_lately'],
    tests: { 'test/client/inbox.test.ts': 'reminded_lately' },
  },
  'slots of a worker for model calls, and for work': {
    movedBy: 'model calls of a workspace; its tool calls, actions and deliveries',
    stops: 'further ones of the same kind of this workspace; it has half of the free slots at most',
    has: ['pool in src/platform/temporal/activity-slots.ts', 'pool in src/platform/temporal/worker-slots.ts'],
    tests: {
      'test/workflows/slots-of-workspaces.test.ts': 'slow %s calls of one workspace hold up no run of another',
      'test/workflows/slots-of-activities.test.ts': '%s gives its slot back',
    },
  },
  'threads, and jobs that wait for one': {
    movedBy: 'jobs of a workspace',
    stops: 'further jobs of this workspace; it has half of the free threads, and of the queue, at most',
    has: ['pool in src/platform/threads/threads.ts'],
    tests: {
      'test/platform/threads/threads.test.ts': 'jobs of %i ms of one workspace leave a thread to another',
      'test/platform/fairness/fair-slots.test.ts': 'one workspace leaves room in the queue',
    },
  },
  'files of documents and pictures in memory': {
    movedBy: 'uploads and readings of a workspace',
    stops: 'further ones of this workspace; it has half of the free slots at most',
    has: ['pool in src/platform/documents/in-turn.ts'],
    tests: { 'test/platform/documents/in-turn.test.ts': 'one workspace leaves slots to another' },
  },
  sandboxes: {
    movedBy: 'scripts, commands and containers of a workspace',
    stops: 'further ones of this workspace; it has half of the free sandboxes at most',
    has: ['pool in src/platform/sandbox/slots.ts'],
    tests: { 'test/platform/sandbox/slots.test.ts': 'one owner gets half the places' },
  },
  'connections to Postgres': {
    movedBy: 'statements of a workspace',
    stops: 'further statements of this workspace: workspaces take turns at a connection',
    has: ['pool in src/platform/db/pool.ts'],
    tests: { 'test/platform/db/client.test.ts': 'workspaces take turns, %s' },
  },
  'the packaged embedding model': {
    movedBy: 'texts that a workspace has embedded',
    stops: 'further texts of this workspace: workspaces take turns, a few pieces each',
    has: ['pool in src/platform/models/turns-of-workspaces.ts', 'queue in src/platform/models/embed-in-passes.ts'],
    tests: { 'test/platform/models/turns-of-workspaces.test.ts': 'workspaces take turns' },
  },
  'connections to MCP servers of workspaces': {
    movedBy: 'runs of a workspace with many servers',
    stops: 'the oldest connection of the workspace that has the most',
    has: ['pool in src/platform/mcp/pool.ts'],
    tests: { 'test/platform/mcp/pool.test.ts': 'one workspace does not close the connections of another' },
  },
  'checks of credentials': {
    movedBy: 'credentials of a workspace at a slow provider',
    stops: 'further checks of this workspace: workspaces take turns',
    has: [],
    tests: { 'test/resources/integrations/health.test.ts': 'takes each workspace in its turn' },
  },
  'chores of the deployment': {
    movedBy: 'the service itself: migrations, sums of lists, addressing of notices',
    stops: 'the same chore in another process',
    has: [
      'advisory lock in src/platform/db/migrate.ts',
      'advisory lock in src/resources/tallies/store.ts',
      'advisory lock in src/resources/output-destinations/store/notices.ts',
    ],
    tests: { [SHARED_LIMITS_TEST]: 'chores of the deployment' },
  },
};

const COUNTERS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['advisory lock', /pg_(?:try_)?advisory\w*lock\(/],
  ['limiter', /(?<!function )createLimiter\(/],
  ['queue', /(?<!function )create(?:Queue|Turns)\(/],
  ['pool', /(?<!function )create(?:FairSlots|FairQueue|ActivitySlots)[(<]|const MAX_OF_WORKSPACES\b/],
];
const TABLE = /pgTable\(\s*'(\w+_(?:locks|slots|counts|counters|leases|cutoffs))'/g;
const PROBLEM = /(?:limit|locked|too_many|lately|under_way|in_progress)/;
const SETTING = /_PER_|^LIVE_STREAMS$/;

/** @returns what the source has of locks, limits, queues and caps, by kind and place */
export function sharedInSource(): string[] {
  const paths = globSync('{src,activities}/**/*.ts', { exclude: ['src/platform/fairness/**'] });
  const files = paths.map((path) => [path, readFileSync(path, 'utf8')] as const);
  return [
    ...files.flatMap(([path, text]) =>
      COUNTERS.filter(([, pattern]) => pattern.test(text)).map(([what]) => `${what} in ${path}`),
    ),
    ...files.flatMap(([, text]) => [...text.matchAll(TABLE)].map(([, name]) => `table ${name}`)),
    ...Object.keys(PROBLEMS)
      .filter((code) => PROBLEM.test(code))
      .map((code) => `problem ${code}`),
    ...Object.keys(settings.shape)
      .filter((name) => SETTING.test(name))
      .map((name) => `setting ${name}`),
  ].sort();
}
