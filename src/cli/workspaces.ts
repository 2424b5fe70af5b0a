/** Adds `aos workspaces`, which manages the tenants of the deployment. */
import { Argument, type Command } from 'commander';
import type { Workspace, WorkspaceDetail } from '../../client/src/api.ts';
import { readCredentials } from '../embedded/credentials.ts';
import { withoutTrailingSlashes } from '../platform/core/text.ts';
import { PLANS } from '../resources/workspaces/model.ts';
import { openService } from './client.ts';
import { fieldLines } from './fields.ts';
import { asList, list, type ListOptions } from './listing.ts';
import { CliError, oneLine, paint, print, printJson, shortTime } from './output.ts';
import { ServiceProblem } from './problems.ts';
import { addExportCommands, exportWorkspace } from './workspace-exports.ts';

interface Output {
  json?: boolean;
}

interface CreateOptions extends Output {
  plan: string;
  config?: string;
}

interface StateOptions extends Output {
  url?: string;
  code?: string;
  message?: string;
}

/**
 * The plans that a workspace can be made on. The workspace on `internal`, which operates the deployment, exists
 * already.
 */
const OFFERED = PLANS.filter((plan) => plan !== 'internal');
const STATES = ['provisioning', 'ready', 'failed'];

export function addWorkspaceCommands(program: Command): void {
  const workspaces = program.command('workspaces').description('tenants: make, see and take down workspaces');
  const json = (command: Command) => command.option('--json', 'print JSON');
  const id = () => new Argument('<id>', 'of the identity provider, acc_...');
  asList(workspaces.command('list', { isDefault: true }))
    .description('all of them, oldest first')
    .action(listWorkspaces);
  json(workspaces.command('show').addArgument(id()))
    .description('one workspace; credentials in its config are masked')
    .action(show);
  json(workspaces.command('create').addArgument(id()))
    .description('make a workspace; provisioning follows')
    .option('-p, --plan <plan>', OFFERED.join(', '), 'free')
    .option('-c, --config <json>', 'kept with the workspace')
    .action(create);
  json(workspaces.command('retry').addArgument(id())).description('provision a failed one again').action(retry);
  json(workspaces.command('delete').addArgument(id()))
    .description('end all that it has under way, remove what was made for it, archive it: for good')
    .option('-y, --yes', 'really')
    .option('--export <file>', 'an archive of everything it has first')
    .action(remove);
  json(workspaces.command('set-state').addArgument(id()).addArgument(new Argument('<state>').choices(STATES)))
    .description('say what a workspace is, with the operator token (OPERATOR_TOKEN)')
    .option('-u, --url <address>', 'of its runtime')
    .option('--code <code>', 'why it failed, for programs')
    .option('-m, --message <text>', 'why it failed, for people')
    .action(setState);
  addExportCommands(workspaces);
  workspaces.addHelpText(
    'after',
    '\nExamples:\n  aos workspaces create acc_acme --plan pro_hosted\n  aos workspaces set-state acc_acme failed --code disk -m "The disk is full"\n  aos workspaces delete acc_acme --yes',
  );
}

const pathOf = (id: string): string => `/v1/workspaces/${encodeURIComponent(id)}`;
/** A plan that is not paid for has the caps of another plan, which is shown with it. */
const planOf = ({ plan, plan_in_force: inForce }: Workspace): string =>
  inForce ? `${plan} (${inForce} until it is paid)` : plan;
const sayError = ({ error_code, error_message }: Workspace): string =>
  [error_code, error_message && oneLine(error_message)].filter(Boolean).join(': ');

const listWorkspaces = (options: ListOptions) =>
  list<Workspace>(
    {
      path: '/v1/workspaces',
      columns: [
        { title: 'ID', value: (row) => row.identity_workspace_id },
        { title: 'CUSTOMER', value: (row) => row.customer_id, isWide: true },
        { title: 'PLAN', value: planOf },
        { title: 'STATUS', value: (row) => row.status, paint: (text, row) => paint(styleOf(row.status), text) },
        { title: 'CREATED (UTC)', value: (row) => shortTime(row.created_at) },
        { title: 'ERROR', value: (row) => sayError(row) || '-' },
      ],
      empty: 'no workspaces; make one with: aos workspaces create acc_<name>',
    },
    options,
  );

const styleOf = (status: string) =>
  status === 'ready' ? 'green' : status === 'failed' ? 'red' : status === 'archived' ? 'gray' : 'cyan';

async function show(id: string, { json }: Output): Promise<void> {
  const service = await openService(process.env);
  const row = await service.controlPlane<WorkspaceDetail>('GET', pathOf(id));
  if (json) return printJson(row);
  const lines: [string, string | null][] = [
    ['workspace', row.identity_workspace_id],
    ['customer', row.customer_id],
    ['plan', planOf(row)],
    ['status', paint(styleOf(row.status), row.status)],
    ['runtime', row.runtime_base_url],
    ['error', sayError(row) || null],
    ['created', shortTime(row.created_at)],
    ['ready', row.ready_at && shortTime(row.ready_at)],
    ['archived', row.archived_at && shortTime(row.archived_at)],
  ];
  for (const [name, value] of lines) if (value !== null) print(`${name.padEnd(10)}${value}`);
  if (row.config !== null) print(['config', ...fieldLines(row.config).map((line) => `  ${line}`)].join('\n'));
}

function parseConfig(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    throw new CliError('--config must be JSON');
  }
}

async function create(id: string, { plan, config, json }: CreateOptions): Promise<void> {
  const service = await openService(process.env);
  const body = { identity_workspace_id: id, plan, config: parseConfig(config) };
  const row = await service.controlPlane<Workspace>('POST', '/v1/workspaces', body);
  say(row, json, 'see how it goes with: aos workspaces show ' + id);
}

async function retry(id: string, { json }: Output): Promise<void> {
  say(await (await openService(process.env)).controlPlane<Workspace>('POST', `${pathOf(id)}/retry`), json);
}

async function remove(id: string, { yes, json, export: file }: Output & { yes?: boolean; export?: string }) {
  if (!yes) {
    throw new CliError(
      `this ends all that ${id} has under way and removes its files, for good: add --yes, and --export ${id}.tar.gz to have everything of it first`,
    );
  }
  if (file !== undefined) await exportWorkspace(id, { output: file });
  say(await (await openService(process.env)).controlPlane<Workspace>('DELETE', pathOf(id)), json);
}

/** The operator's route needs no session, so the control plane's own address is asked where it is known. */
async function setState(id: string, state: string, { url, code, message, json }: StateOptions): Promise<void> {
  const kept = await readCredentials(process.env.DATA_DIR || '.data');
  const address = process.env.AOS_CONTROL_PLANE_URL || kept?.control_plane_url;
  const token = process.env.OPERATOR_TOKEN || kept?.operator_token;
  if (!address) throw new CliError('no control plane found: set AOS_CONTROL_PLANE_URL');
  if (!token) throw new CliError('no operator token: set OPERATOR_TOKEN');
  const body = { status: state, runtime_base_url: url, error_code: code, error_message: message };
  const path = `${pathOf(id)}/state`;
  const response = await fetch(withoutTrailingSlashes(address) + path, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'x-operator-token': token },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  }).catch(() => {
    throw new CliError(`the control plane does not answer at ${address}`);
  });
  const text = await response.text();
  if (!response.ok) throw new ServiceProblem(`PATCH ${path}`, response.status, text);
  say(JSON.parse(text) as Workspace, json);
}

function say(row: Workspace, json: boolean | undefined, next?: string): void {
  if (json) return printJson(row);
  const error = sayError(row);
  print(`${row.identity_workspace_id} is ${row.status}${error ? ` (${error})` : ''}${next ? `; ${next}` : ''}`);
}
