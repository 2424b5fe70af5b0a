/** Declares `aos project`, which starts projects, watches them, answers their gates, steers them, and takes what they made. */
import { InvalidArgumentError } from 'commander';
import { fieldsOf } from '../../platform/core/record.ts';
import { uploadAttachments } from '../../resources/attachments/contract.ts';
import {
  abandonProject,
  pauseProject,
  resumeProject,
  retriggerPhase,
  retrySubtask,
  revertArtifact,
  startEditSession,
} from '../../resources/projects/requests/contract.ts';
import { startProject, updateProject } from '../../resources/projects/contract.ts';
import { projectWorkflowId, type Decision } from '../../resources/projects/model.ts';
import {
  getProject,
  listArtifacts,
  listEventsOfProject,
  listProjects,
} from '../../resources/projects/reads/contract.ts';
import { SAMPLE_NOTE } from '../../resources/samples/model.ts';
import { describeAttachment } from '../attached.ts';
import { openService, type ServiceClient } from '../client.ts';
import { ask, command, group, list, type Add, type ReplyOf } from '../commands.ts';
import { TIMES } from '../filters.ts';
import { readText } from '../input.ts';
import { CliError, paint, print, shortTime } from '../output.ts';
import { writeArtifacts } from '../project-artifacts.ts';
import { formatSpend } from '../project-board.ts';
import { orMissing, pickStep, readBoard, stepsOf } from '../project-client.ts';
import { formatProjectEvent } from '../project-events.ts';
import { answerGate, listGates, showPlan } from '../project-gate-commands.ts';
import { printProject, watchProject } from '../project-watch.ts';
import { workflowSample } from '../samples.ts';
import { formatUsd, workflowUrl } from '../timeline.ts';

function addParam(assignment: string, params?: unknown): object {
  const at = assignment.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('expects name=value');
  const [name, value] = [assignment.slice(0, at), assignment.slice(at + 1)];
  return { ...fieldsOf(params), [name]: parsed(value) };
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function wholeNumber(given: string): number {
  if (/^\d{1,9}$/.test(given)) return Number(given);
  throw new InvalidArgumentError('expects a whole number');
}

interface Wanted {
  workflow: string;
  brief?: string;
  brief_file?: string;
  title?: string;
  params?: string;
  sample?: true;
}

/** @throws CliError if there is no such sample, or something of it was to be changed */
async function requested({ workflow, brief, brief_file, title, params, sample }: Wanted, service: ServiceClient) {
  if (sample) {
    if (brief !== undefined || brief_file !== undefined || params !== undefined)
      throw new CliError(
        'a changed brief is no sample any more: leave out --sample, or --brief, --brief-file and --param',
      );
    const recorded = await workflowSample(service, workflow);
    return { brief: recorded.brief, title: title ?? recorded.title, params: recorded.params };
  }
  if ((brief === undefined) === (brief_file === undefined))
    throw new CliError('give --brief, --brief-file or --sample');
  return { brief: brief ?? (await readText(brief_file ?? '')), title, params: params ?? {} };
}

const missing =
  (what = '') =>
  ({ project, phase = '', version = '' }: { project: string; phase?: string; version?: string }) =>
    orMissing(`project ${project}${what.replace('PHASE', phase).replace('VERSION', version)}`);
const goesOn = ({ project }: { project: string }): string => `watch it with: aos project watch ${project}`;
const CASCADE = '-c, --cascade <mode> = lazy | what happens to phases that used it';

const follows = ({
  marked_stale,
  auto_retriggered,
}: Pick<ReplyOf<typeof revertArtifact>, 'marked_stale' | 'auto_retriggered'>): string[] => [
  ...(auto_retriggered.length > 0 ? [`also run again: ${auto_retriggered.join(', ')}`] : []),
  ...(marked_stale.length > 0 ? [`now stale: ${marked_stale.join(', ')}`] : []),
];

const write = async ({ data }: ReplyOf<typeof listArtifacts>, { project, out }: { project: string; out?: string }) =>
  data.length > 0 ? writeArtifacts(data, out ?? project) : [];

const addVerdict =
  (name: string, decision: Decision, about: string): Add =>
  (projects) => {
    const made = projects
      .command(`${name} <project> [gate]`)
      .description(about)
      .option('--json', 'print JSON')
      .option('--comment <text>', 'kept with the decision; whoever does the work again is told')
      .addHelpText(
        'after',
        '\nA gate is named by its step, by phase/step or by its subtask id; without one, the only that waits.',
      );
    if (decision === 'rejected')
      made.option('--changes', 'of the plan of an edit session: have it planned again, with the comment');
    made.action((project: string, gate: string | undefined) => {
      const { comment, changes, json } = made.opts<{ comment?: string; changes?: true; json?: true }>();
      return answerGate(project, gate, { decision: changes ? 'request_changes' : decision, comment }, { json });
    });
  };

export const projects = group(
  'project|projects',
  'pipelines of phases, steps and gates: start, watch, answer, steer',
  [
    command('start|create <workflow>', startProject, {
      about: 'start a project',
      flags: {
        brief: '-b, --brief <text> | what it is to be about',
        brief_file: '-f, --brief-file <path> | the same from a file; - reads standard input',
        sample:
          "--sample | the workflow's recorded sample: its brief, answered without a model where none is configured",
        title: '-t, --title <text> | by default the first line of the brief',
        params: '-p, --param <name=value> | parameter of the workflow; JSON where it is JSON, else text',
        budget: '--budget <usd> | the most it may spend',
        version: '--version <number> | of the workflow, by default the latest',
        workflow_version: '--workflow-version <number> | -',
        watch: '-w, --watch | stay and show what happens',
      },
      parse: { params: addParam, version: wholeNumber, workflow_version: wholeNumber },
      after:
        'Examples:\n  aos project start blog-post --brief "Why we write things down" --param length_words=800 --budget 5\n  aos project start content --brief-file brief.md --watch\n  aos project start childrens-book --sample --watch',
      fields: async ({ budget, version, workflow_version = version, ...given }, service) => ({
        workflow_slug: given.workflow,
        ...(await requested(given, service)),
        cost_budget_usd: budget,
        workflow_version,
      }),
      say: ({ project_id: id }, { watch }) =>
        watch ? `${id} started` : `${id} started; watch it with: aos project watch ${id}`,
      async then({ project_id }, { watch }, service) {
        if (watch) await watchProject(service, project_id, { fromStart: true });
      },
    }),
    list('list', listProjects, {
      about: 'newest first',
      flags: {
        ...TIMES('started'),
        status: '-s, --status <status> | in this state',
        workflow_slug: '--workflow <slug> | of one workflow',
        q: '-q, --q <text> | an id, or words of the title, the brief or the workflow; `aos search` finds more',
        limit: '-n, --limit <count> = 20 | how many',
      },
      columns:
        'PROJECT id, WORKFLOW, STATUS status, PAUSED FOR? pause_reason, COST>, CREATED (UTC) created_at, ENDED (UTC)?, TITLE title',
      cells: {
        WORKFLOW: (row) => `${row.workflow_slug} v${row.workflow_version}`,
        COST: formatSpend,
        'ENDED (UTC)': (row) => shortTime(row.completed_at ?? row.abandoned_at),
      },
      empty: ({ limit: _, ...filters }) =>
        Object.keys(filters).length > 0
          ? 'no such projects'
          : 'no projects yet; start one with: aos project start blog-post --brief "..." --watch',
    }),
    command('show <project>', getProject, {
      about: 'phases, what waits, cost, and where it is in Temporal',
      orElse: missing(),
      async json(_, { project: id }, service) {
        const { project, phases } = await readBoard(service, id, { steps: 'all' });
        return { ...project, temporal_ui_url: workflowUrl(service, projectWorkflowId(id)) ?? null, phases };
      },
      say: async (_, { project }, service) => printProject(service, await readBoard(service, project)),
    }),
    (projects_) =>
      projects_
        .command('watch <project>')
        .description('show what happens until it is completed (exit code 0), paused or abandoned (1)')
        .action(async (project: string) => watchProject(await openService(process.env), project)),
    command('events <project>', listEventsOfProject, {
      about: 'what happened, oldest first',
      flags: { limit: '-n, --limit <count> = 200 | the latest so many' },
      orElse: missing(),
      json: ({ data }) => data.toReversed(),
      say({ data }) {
        for (const event of data.toReversed()) print(formatProjectEvent(event));
      },
    }),
    command('artifacts <project>', listArtifacts, {
      about: 'write what the phases made to files',
      flags: {
        out: '-o, --out <folder> | where to; by default a folder named like the project',
        all: '-a, --all | every version, not only the current ones',
      },
      fields: ({ all }) => ({ current_only: String(!all) }),
      orElse: missing(),
      json: async (made, given) => ({ data: await write(made, given) }),
      async say(made, given) {
        const written = await write(made, given);
        if (written.length === 0) print('nothing is made yet');
        for (const { file, phase_slug, version, superseded, bytes } of written)
          print(
            `${file}  ${paint('gray', `${phase_slug} v${version}${superseded ? '' : ', current'}, ${bytes} bytes`)}`,
          );
        if (written.some(({ sample }) => sample)) print(paint('yellow', SAMPLE_NOTE));
      },
    }),
    command('pause <project>', pauseProject, {
      about: 'begin no further step',
      orElse: missing(),
      say: (_, { project }) =>
        `${project} is paused: steps in flight end, no other begins\ngo on with: aos project resume ${project}`,
    }),
    command('resume <project>', resumeProject, {
      about: 'go on',
      flags: { budget: '--budget <usd> | with this budget from now on; none takes it away' },
      orElse: missing(),
      async fields({ project, budget }, service) {
        const fields = { cost_budget_usd: budget === 'none' ? null : budget };
        if (budget !== undefined) await ask(service, updateProject, [project], fields).catch(missing()({ project }));
        return {};
      },
      say(recovered, given) {
        const died = [
          [recovered.crashed_attempts_recovered, 'queued again after they died'],
          [recovered.repeat_crash_failures, 'failed, having died again and again'],
          [recovered.nonidempotent_pauses, 'left to a person: nobody knows what they did before they died'],
        ] as const;
        const told = died.filter(([count]) => count > 0).map(([count, what]) => `  steps ${what}: ${count}`);
        return [`${given.project} goes on; ${goesOn(given)}`, ...told].join('\n');
      },
    }),
    command('abandon <project>', abandonProject, {
      about: 'end it for good; artifacts are kept',
      orElse: missing(),
      say: (_, { project }) => `${project} is abandoned; artifacts are kept`,
    }),
    command('retry <project> [step]', retrySubtask, {
      about: 'try a failed step again; without a name the only one',
      flags: { addendum_brief: '--addendum <text> | what it is to do differently' },
      orElse: missing(),
      async choose(given, service) {
        const board = await readBoard(service, given.project);
        const failed = stepsOf(board).filter(({ status }) => status === 'failed');
        const { id, place } = pickStep(failed, given.step, 'failed step');
        given.step = place;
        return { path: [given.project, id], fields: { addendum_brief: given.addendum_brief } };
      },
      async say(_, given, service) {
        const { status } = await ask(service, getProject, [given.project]);
        const next = `the project is paused; go on with: aos project resume ${given.project}`;
        return `${given.step} is queued again\n${status === 'paused' ? next : goesOn(given)}`;
      },
    }),
    (projects_) =>
      projects_
        .command('gates [project]')
        .option('--json', 'print JSON')
        .description('what waits for an answer, and how to give it; of every open project, or of one')
        .action(listGates),
    addVerdict('approve', 'approved', 'let a gate pass'),
    addVerdict('reject', 'rejected', 'turn down what a gate asks about'),
    command('retrigger <project> <phase>', retriggerPhase, {
      about: 'run an ended phase again',
      flags: { addendum_brief: '--addendum <text> | what it is to do differently', cascade: CASCADE },
      orElse: missing(', or no phase PHASE in it'),
      say: (reply, given) =>
        [
          // What nobody knows the price of is estimated at nothing.
          `${given.phase} runs again${Number(reply.cost_estimate_usd) > 0 ? `, for about ${formatUsd(reply.cost_estimate_usd)}` : ''}`,
          ...follows(reply),
          goesOn(given),
        ].join('\n'),
    }),
    command('revert <project> <phase> <version>', revertArtifact, {
      about: 'make an earlier version of an artifact the current one',
      words: { version: 'number of it' },
      parse: { version: wholeNumber },
      flags: { reason: '--reason <text> | kept with the event', cascade: CASCADE },
      orElse: missing(', or no version VERSION of a phase PHASE in it'),
      fields: ({ version, cascade, reason }) => ({ target_version: version, cascade, reason }),
      say: (reply, { phase, version }) =>
        [`version ${version} of ${phase} is the current one`, ...follows(reply)].join('\n'),
    }),
    command('edit <project> <instruction>', startEditSession, {
      about: 'have a planner propose changes, to be approved before they are made',
      flags: { wait: '--no-wait | do not wait for the plan', cascade_mode: CASCADE },
      orElse: missing(),
      fields: ({ instruction, cascade_mode }) => ({ instruction, cascade_mode }),
      say: (_, { project, wait }) =>
        wait ? undefined : `a planner is at work; its plan will wait in: aos project gates ${project}`,
      async then(session, { project, wait }, service, isJson) {
        if (wait) await showPlan(service, project, session, isJson);
      },
    }),
    command('attach <project> <files...>', uploadAttachments, {
      about: 'put reference files beside it, for its agents to read',
      orElse: missing(),
      say: ({ data }) => data.map((file) => `attached ${describeAttachment(file)}`).join('\n'),
    }),
  ],
  `Examples:
  aos project start blog-post --brief "Why small teams should write things down" --watch
  aos project gates
  aos project approve why-small-teams-6db165 --comment "Good as it is"
  aos project retrigger why-small-teams-6db165 cover --addendum "Warmer colours" --cascade strict
  aos project artifacts why-small-teams-6db165 --out post`,
);
