/**
 * Adds `aos project`, which starts projects, watches them, answers their gates, steers them, and takes what they made.
 */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { CASCADES, PROJECT_STATUSES, type Decision } from '../resources/projects/model.ts';
import { between } from './filters.ts';
import { asList } from './listing.ts';
import { abandon, attach, pause, resume, retrigger, retry, revert } from './project-commands.ts';
import { edit } from './project-edit.ts';
import { answerGate, listGates } from './project-gate-commands.ts';
import { artifacts, events, listProjects, show, start, watch } from './project-reads.ts';

const EXAMPLES = `
Examples:
  aos project start blog-post --brief "Why small teams should write things down" --watch
  aos project gates
  aos project approve why-small-teams-6db165 --comment "Good as it is"
  aos project retrigger why-small-teams-6db165 cover --addendum "Warmer colours" --cascade strict
  aos project artifacts why-small-teams-6db165 --out post`;

export function addProjectCommands(program: Command): void {
  const projects = program
    .command('project')
    .alias('projects')
    .description('pipelines of phases, steps and gates: start, watch, answer, steer')
    .addHelpText('after', EXAMPLES);
  addReads(projects);
  addControls(projects);
  addGates(projects);
  addChanges(projects);
}

const json = (command: Command): Command => command.option('--json', 'print JSON');
const cascade = () =>
  new Option('-c, --cascade <mode>', 'what happens to phases that used it').choices(CASCADES).default('lazy');
const PROJECT = '<project>';

function addReads(projects: Command): void {
  json(projects.command('start <workflow>').alias('create'))
    .description('start a project')
    .option('-b, --brief <text>', 'what it is to be about')
    .option('-f, --brief-file <path>', 'the same from a file; - reads standard input')
    .option('--sample', "the workflow's recorded sample: its brief, answered without a model where none is configured")
    .option('-t, --title <text>', 'by default the first line of the brief')
    .option('-p, --param <name=value>', 'parameter of the workflow; JSON where it is JSON, else text', addParam, {})
    .option('--budget <usd>', 'the most it may spend')
    .option('--version <number>', 'of the workflow, by default the latest', wholeNumber)
    .addOption(new Option('--workflow-version <number>', 'the same').argParser(wholeNumber).hideHelp())
    .option('-w, --watch', 'stay and show what happens')
    .addHelpText(
      'after',
      '\nExamples:\n  aos project start blog-post --brief "Why we write things down" --param length_words=800 --budget 5\n  aos project start content --brief-file brief.md --watch\n  aos project start childrens-book --sample --watch',
    )
    .action(start);
  between(asList(projects.command('list', { isDefault: true })), 'started')
    .description('newest first')
    .addOption(new Option('-s, --status <status>', 'in this state').choices(PROJECT_STATUSES))
    .option('--workflow <slug>', 'of one workflow')
    .option('-q, --q <text>', 'an id, or words of the title, the brief or the workflow; `aos search` finds more')
    .option('-n, --limit <count>', 'how many', '20')
    .action(listProjects);
  json(projects.command(`show ${PROJECT}`))
    .description('phases, what waits, cost, and where it is in Temporal')
    .action(show);
  projects
    .command(`watch ${PROJECT}`)
    .description('show what happens until it is completed (exit code 0), paused or abandoned (1)')
    .action(watch);
  json(projects.command(`events ${PROJECT}`))
    .description('what happened, oldest first')
    .option('-n, --limit <count>', 'the latest so many', '200')
    .action(events);
  json(projects.command(`artifacts ${PROJECT}`))
    .description('write what the phases made to files')
    .option('-o, --out <folder>', 'where to; by default a folder named like the project')
    .option('-a, --all', 'every version, not only the current ones')
    .action(artifacts);
}

function addControls(projects: Command): void {
  json(projects.command(`pause ${PROJECT}`))
    .description('begin no further step')
    .action(pause);
  json(projects.command(`resume ${PROJECT}`))
    .description('go on')
    .option('--budget <usd>', 'with this budget from now on; none takes it away')
    .action(resume);
  json(projects.command(`abandon ${PROJECT}`))
    .description('end it for good; artifacts are kept')
    .action(abandon);
  json(projects.command(`retry ${PROJECT} [step]`))
    .description('try a failed step again; without a name the only one')
    .option('--addendum <text>', 'what it is to do differently')
    .action(retry);
}

function addGates(projects: Command): void {
  json(projects.command('gates [project]'))
    .description('what waits for an answer, and how to give it; of every open project, or of one')
    .action(listGates);
  const verdict = (name: string, decision: Decision) =>
    json(projects.command(`${name} ${PROJECT} [gate]`))
      .option('--comment <text>', 'kept with the decision; whoever does the work again is told')
      .addHelpText(
        'after',
        '\nA gate is named by its step, by phase/step or by its subtask id; without one, the only that waits.',
      )
      .action((project: string, gate: string | undefined, { comment, changes, ...output }: Answer) =>
        answerGate(project, gate, { decision: changes ? 'request_changes' : decision, comment }, output),
      );
  verdict('approve', 'approved').description('let a gate pass');
  verdict('reject', 'rejected')
    .description('turn down what a gate asks about')
    .option('--changes', 'of the plan of an edit session: have it planned again, with the comment');
}

interface Answer {
  comment?: string;
  changes?: boolean;
  json?: boolean;
}

function addChanges(projects: Command): void {
  json(projects.command(`retrigger ${PROJECT} <phase>`))
    .description('run an ended phase again')
    .option('--addendum <text>', 'what it is to do differently')
    .addOption(cascade())
    .action(retrigger);
  json(projects.command(`revert ${PROJECT} <phase>`).argument('<version>', 'number of it', wholeNumber))
    .description('make an earlier version of an artifact the current one')
    .option('--reason <text>', 'kept with the event')
    .addOption(cascade())
    .action(revert);
  json(projects.command(`edit ${PROJECT} <instruction>`))
    .description('have a planner propose changes, to be approved before they are made')
    .option('--no-wait', 'do not wait for the plan')
    .addOption(cascade())
    .action(edit);
  json(projects.command(`attach ${PROJECT} <files...>`))
    .description('put reference files beside it, for its agents to read')
    .action(attach);
}

function addParam(assignment: string, params: Record<string, unknown>): Record<string, unknown> {
  const at = assignment.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('expects name=value');
  const [name, value] = [assignment.slice(0, at), assignment.slice(at + 1)];
  return Object.fromEntries([...Object.entries(params), [name, parsed(value)]]);
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
