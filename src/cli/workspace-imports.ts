/** `aos workspaces import`: sends an archive, and waits until what it has is there. */
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Argument, type Command } from 'commander';
import type { WorkspaceImport } from '../../client/src/api.ts';
import { openService, ServiceProblem, type ServiceClient } from './client.ts';
import { digestOf } from './digest.ts';
import { asList, list, type ListOptions } from './listing.ts';
import { confirmable, confirmed, type Confirming } from './otp.ts';
import { CliError, oneLine, paint, print, printAside, printJson, printProgress, shortTime } from './output.ts';

interface ImportOptions extends Confirming {
  import?: string;
  wait?: boolean;
  json?: boolean;
}

const workspaceArgument = () => new Argument('<id>', 'of the workspace that it is brought into, acc_...');
const pathOf = (id: string, one = '', what = ''): string =>
  `/v1/workspaces/${encodeURIComponent(id)}/imports${one && `/${encodeURIComponent(one)}`}${what}`;

export function addImportCommands(workspaces: Command): void {
  confirmable(
    workspaces
      .command('import')
      .addArgument(workspaceArgument())
      .argument('<archive>', 'a file of aos workspaces export'),
  )
    .description('bring what an archive has into a workspace; what is there already stays as it is; for its owners')
    .option('--import <id>', 'go on with an upload that broke off')
    .option('--no-wait', 'send it, begin, and leave')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nThe workspace has to be there: aos workspaces create. Importing twice brings nothing twice.\n\nExample:\n  aos workspaces import acc_acme acc_acme-202611251431.tar.gz',
    )
    .action(importArchive);
  asList(workspaces.command('imports').addArgument(workspaceArgument()))
    .description('what was brought into it, newest first')
    .action(listImports);
  workspaces
    .command('remove-import')
    .addArgument(workspaceArgument())
    .argument('<import>', 'which of its imports')
    .description('stop an import; what was brought until then stays')
    .option('--json', 'print JSON')
    .action(removeImport);
}

async function importArchive(id: string, archive: string, options: ImportOptions): Promise<void> {
  const { import: given, wait = true, json, challenge, code } = options;
  const { size } = await stat(archive).catch(() => {
    throw new CliError(`there is no file ${archive}`);
  });
  const sha256 = await digestOf(archive);
  const service = await openService(process.env);
  const request = { method: 'POST', path: pathOf(id), body: { size_bytes: size, sha256 } };
  const announced = given
    ? await service.controlPlane<WorkspaceImport>('GET', pathOf(id, given))
    : await confirmed<WorkspaceImport>(service, request, { challenge, code });
  if (announced.sha256 !== sha256) throw new CliError(`${announced.id} is of another archive`);
  if (announced.status === 'uploading') {
    await send(service, id, announced, archive);
    await service.controlPlane('POST', pathOf(id, announced.id, '/start'));
  }
  if (!wait) {
    if (json) printJson(announced);
    else print(`${announced.id} has begun; see how it goes with: aos workspaces imports ${id}`);
    return;
  }
  const done = await whenDone(service, id, announced.id);
  if (json) printJson(done);
  else say(done);
}

async function send(service: ServiceClient, id: string, announced: WorkspaceImport, archive: string): Promise<void> {
  const blob = await openAsBlob(archive);
  const { part_bytes: size, of_parts: all } = announced;
  for (let part = announced.parts; part < all; part++) {
    const form = new FormData();
    form.append('file', blob.slice(part * size, (part + 1) * size), 'part');
    await service.controlPlane('PUT', pathOf(id, announced.id, `/parts/${part}`), form).catch((error: unknown) => {
      if (error instanceof ServiceProblem) throw error;
      throw new CliError(`the upload broke off after ${part} of ${all} parts: repeat it with --import ${announced.id}`);
    });
    printProgress(`sent ${part + 1} of ${all} parts`.padEnd(40), part + 1 === all);
  }
}

const LOOK_MS = 500;

async function whenDone(service: ServiceClient, id: string, importId: string): Promise<WorkspaceImport> {
  for (let told = ''; ; await sleep(LOOK_MS)) {
    const now = await service.controlPlane<WorkspaceImport>('GET', pathOf(id, importId));
    if (now.status === 'done') return now;
    if (now.status === 'failed') throw new CliError(`${now.error_code}: ${oneLine(now.error_message ?? '')}`);
    if (now.status === 'removed') throw new CliError('the import was removed');
    const { progress } = now;
    const line = progress ? `${progress.phase}: ${progress.percent}%` : now.status;
    if (line !== told) printProgress(line.padEnd(40), false);
    told = line;
  }
}

function say({ source, as_of, result, new_ids: areNew }: WorkspaceImport): void {
  const { brought = {}, there = {}, refused = [], refused_count: count = 0, ended = 0 } = result ?? {};
  const sum = (counts: Record<string, number>) => Object.values(counts).reduce((total, one) => total + one, 0);
  printAside('');
  print(
    `${paint('green', `${sum(brought)} things`)} of ${source ?? ''} as of ${shortTime(as_of)} UTC are brought; ${sum(there)} were there already`,
  );
  for (const [what, one] of Object.entries(brought)) print(`  ${what}: ${one}`);
  if (areNew) print('another workspace here has its ids: runs, projects and what belongs to them have new ones');
  if (ended > 0) print(`${ended} runs and projects were under way, and are brought as ended`);
  print('jobs, heartbeats and destinations are switched off; members, keys, secrets and webhooks are to be set again');
  if (count === 0) return;
  print(paint('yellow', `${count} could not be brought:`));
  for (const { what, why } of refused) print(`  ${oneLine(what)}: ${oneLine(why)}`);
}

const listImports = (id: string, options: ListOptions): Promise<void> =>
  list<WorkspaceImport>(
    {
      path: pathOf(id),
      columns: [
        { title: 'IMPORT', value: (row) => row.id },
        { title: 'STATUS', value: (row) => row.status },
        { title: 'OF', value: (row) => row.source },
        { title: 'BEGUN (UTC)', value: (row) => shortTime(row.created_at) },
        { title: 'NOT BROUGHT', value: (row) => row.result?.refused_count },
        { title: 'ERROR', value: (row) => row.error_code },
        { title: 'BY', value: (row) => row.requested_by, isWide: true },
        { title: 'SHA256', value: (row) => row.sha256, isWide: true },
      ],
      empty: `nothing was brought; bring an archive with: aos workspaces import ${id} <archive>`,
    },
    options,
  );

async function removeImport(id: string, one: string, { json }: { json?: boolean }): Promise<void> {
  const removed = await (await openService(process.env)).controlPlane<WorkspaceImport>('DELETE', pathOf(id, one));
  if (json) printJson(removed);
  else print(`${removed.id} is ${removed.status}`);
}
