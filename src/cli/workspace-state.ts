/** Adds `aos workspaces set-state`, with which an operator says what a workspace is. */
import type { Command } from 'commander';
import type { Workspace } from '../../client/src/api.ts';
import { readCredentials } from '../embedded/credentials.ts';
import { withoutTrailingSlashes } from '../platform/core/text.ts';
import { createServiceClient } from './client.ts';
import { CliError, oneLine, print, printJson } from './output.ts';

export function addStateCommand(workspaces: Command): void {
  const made = workspaces
    .command('set-state')
    .argument('<id>', 'of the identity provider, acc_...')
    .addArgument(workspaces.createArgument('<state>').choices(['provisioning', 'ready', 'failed']))
    .description('say what a workspace is, with the operator token (OPERATOR_TOKEN)')
    .option('-u, --url <address>', 'of its runtime')
    .option('--code <code>', 'why it failed, for programs')
    .option('-m, --message <text>', 'why it failed, for people')
    .option('--json', 'print JSON')
    .action((id: string, status: string) => setState(id, status, made.opts()));
}

/** The operator's route needs no session, so the control plane's own address is asked if it is known. */
async function setState(id: string, status: string, { url, code, message, json }: Record<string, string | undefined>) {
  const kept = await readCredentials(process.env.DATA_DIR || '.data');
  const baseUrl = process.env.AOS_CONTROL_PLANE_URL || kept?.control_plane_url;
  const operatorToken = process.env.OPERATOR_TOKEN || kept?.operator_token;
  if (!baseUrl) throw new CliError('no control plane found: set AOS_CONTROL_PLANE_URL');
  if (!operatorToken) throw new CliError('no operator token: set OPERATOR_TOKEN');
  const row = await createServiceClient({ baseUrl: withoutTrailingSlashes(baseUrl) }).operate<Workspace>(
    operatorToken,
    'PATCH',
    `/v1/workspaces/${encodeURIComponent(id)}/state`,
    { status, runtime_base_url: url, error_code: code, error_message: message },
  );
  if (json) printJson(row);
  else print(workspaceIs(row));
}

/** @returns for example `acc_acme is failed (disk: The disk is full)` */
export function workspaceIs(row: Pick<Workspace, 'identity_workspace_id' | 'status' | 'error_code' | 'error_message'>) {
  const error = errorIn(row);
  return `${row.identity_workspace_id} is ${row.status}${error ? ` (${error})` : ''}`;
}

export const errorIn = ({ error_code, error_message }: Pick<Workspace, 'error_code' | 'error_message'>): string =>
  [error_code, error_message && oneLine(error_message)].filter(Boolean).join(': ');
