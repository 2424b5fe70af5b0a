/** Declares `aos workspaces`, which manages the tenants of the deployment, and `aos system`: how the deployment is. */
import type { Workspace } from '../../../client/src/api.ts';
import { listExports, removeExport } from '../../resources/exports/contract.ts';
import { getHealth, getInfo, reload } from '../../resources/system/contract.ts';
import {
  createWorkspace,
  destroyWorkspace,
  getWorkspace,
  listWorkspaces,
  retryWorkspace,
} from '../../resources/workspaces/contract.ts';
import { PLANS } from '../../resources/workspaces/model.ts';
import { card, command, group, list } from '../commands.ts';
import { fieldLines } from '../fields.ts';
import { CliError, paint, paintStatus, print, shortTime } from '../output.ts';
import { addExportCommand, exportWorkspace } from '../workspace-exports.ts';
import { addStateCommand, errorIn, workspaceIs } from '../workspace-state.ts';

/** The workspace on `internal`, which operates the deployment, exists already. */
const OFFERED = PLANS.filter((plan) => plan !== 'internal').join(', ');
const words = { id: 'of the identity provider, acc_...', archive: 'which of its archives' };

/** A plan that is not paid for has the caps of another plan, which is shown with it. */
const planOf = ({ plan, plan_in_force: inForce }: Pick<Workspace, 'plan' | 'plan_in_force'>): string =>
  inForce ? `${plan} (${inForce} until it is paid)` : plan;
const styleOf = (status: string) =>
  status === 'ready' ? 'green' : status === 'failed' ? 'red' : status === 'archived' ? 'gray' : 'cyan';

export const workspaces = group(
  'workspaces',
  'tenants: make, see and take down workspaces',
  [
    list('list', listWorkspaces, {
      about: 'all of them, oldest first',
      columns: 'ID identity_workspace_id, CUSTOMER? customer_id, PLAN, STATUS status, CREATED (UTC) created_at, ERROR',
      cells: { PLAN: planOf, ERROR: (row) => errorIn(row) || null },
      paint: { STATUS: (text, row) => paint(styleOf(row.status), text) },
      empty: 'no workspaces; make one with: aos workspaces create acc_<name>',
    }),
    command('show <id>', getWorkspace, {
      about: 'one workspace; credentials in its config are masked',
      words,
      say: (row) =>
        [
          card(
            {
              workspace: row.identity_workspace_id,
              customer: row.customer_id,
              plan: planOf(row),
              status: paint(styleOf(row.status), row.status),
              runtime: row.runtime_base_url,
              error: errorIn(row),
              created: shortTime(row.created_at),
              ready: row.ready_at && shortTime(row.ready_at),
              archived: row.archived_at && shortTime(row.archived_at),
            },
            10,
          ),
          ...(row.config === null ? [] : ['config', ...fieldLines(row.config).map((line) => `  ${line}`)]),
        ].join('\n'),
    }),
    command('create <id>', createWorkspace, {
      about: 'make a workspace; provisioning follows',
      words,
      flags: {
        chosen: `-p, --plan <plan> = free | ${OFFERED}`,
        config: '-c, --config <json> | kept with the workspace',
      },
      fields: ({ id, chosen, config }) => ({ identity_workspace_id: id, plan: chosen, config }),
      say: (row, { id }) => `${workspaceIs(row)}; see how it goes with: aos workspaces show ${id}`,
    }),
    command('retry <id>', retryWorkspace, { about: 'provision a failed one again', words, say: workspaceIs }),
    command('delete <id>', destroyWorkspace, {
      about: 'end all that it has under way, remove what was made for it, archive it: for good',
      words,
      flags: { yes: '-y, --yes | really', archive: '--export <file> | an archive of everything it has first' },
      async fields({ id, yes, archive }) {
        if (!yes)
          throw new CliError(
            `this ends all that ${id} has under way and removes its files, for good: add --yes, and --export ${id}.tar.gz to have everything of it first`,
          );
        if (archive !== undefined) await exportWorkspace(id, { output: archive });
        return {};
      },
      say: workspaceIs,
    }),
    addStateCommand,
    addExportCommand,
    list('exports <id>', listExports, {
      about: 'its archives, newest first, and until when each can be downloaded',
      words,
      columns:
        'ARCHIVE id, STATUS status, MADE (UTC) created_at, BYTES size_bytes, UNTIL (UTC) expires_at, BY? requested_by, SHA256? sha256',
      empty: ({ id }) => `no archives; make one with: aos workspaces export ${id}`,
    }),
    command('delete-export|remove-export <id> <archive>', removeExport, {
      about: 'take an archive back before its time, or stop making it',
      words,
      say: ({ id, status }) => `${id} is ${status}`,
    }),
  ],
  'Examples:\n  aos workspaces create acc_acme --plan pro_hosted\n  aos workspaces set-state acc_acme failed --code disk -m "The disk is full"\n  aos workspaces delete acc_acme --yes',
);

const linesOf = (reply: unknown): string => fieldLines(reply).join('\n');

export const system = group('system', 'the deployment itself', [
  command('health', getHealth, {
    about: 'how each part is; exit code 1 if anything is not well',
    isDefault: true,
    then({ status }) {
      if (status !== 'ok') process.exitCode = 1;
    },
    say({ parts }) {
      for (const { name, status, latency_ms, detail } of parts) {
        const took = `${String(latency_ms).padStart(5)} ms`;
        print(`${paintStatus(status, 10)}${name.padEnd(24)}${took}  ${detail ?? ''}`.trimEnd());
      }
    },
  }),
  command('info', getInfo, { about: 'what it is and what it allows', say: linesOf }),
  command('reload', reload, {
    about:
      'read the files of MODEL_CATALOGUE, MODEL_PRICES and MCP_SERVERS anew (for the workspace that operates the service)',
    flags: { log_level: '-l, --log-level <level> | until the next start' },
    say: linesOf,
  }),
]);
