/** Adds `aos export`, `aos plan` and `aos apply`: a workspace as files, which live in git and are deployed from it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { ManifestPlan, ManifestsExportResponse } from '../../client/src/api.ts';
import { agrees } from './asking.ts';
import { listDeployed } from '../resources/manifests/contract.ts';
import { openService, type ServiceClient } from './client.ts';
import { list } from './commands.ts';
import { bodyOf, FaultyFiles, faultsIn, readManifests, type ManifestFile } from './files/directory.ts';
import { printPlan } from './files/printing.ts';
import { writeManifests, writeSchemas } from './files/writing.ts';
import { readFields } from './input.ts';
import { CliError, oneLine, print, printJson } from './output.ts';
import { ServiceProblem } from './problems.ts';

const MANIFESTS = '/v1/manifests';
/** As Terraform has it: something is to be changed. */
const CHANGES = 2;

interface SourceOptions {
  json?: boolean;
  prune?: boolean;
  source?: string;
}
interface PlanOptions extends SourceOptions {
  detailedExitcode?: boolean;
  out?: string;
}
interface ApplyOptions extends SourceOptions {
  yes?: boolean;
  plan?: string;
  revision?: string;
}

export function addFileCommands(program: Command): void {
  const fromSource = (command: Command) =>
    command
      .option('--prune', 'delete what these files made and is in them no more')
      .option('--source <name>', 'whose files these are, where several repositories have one workspace')
      .option('--json', 'print JSON');
  program
    .command('export <directory>')
    .description('write what the workspace has made as YAML files, one a thing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nFiles that say the same already stay as they are, comments and all.\n\nExample:\n  aos export config',
    )
    .action(exportFiles);
  fromSource(program.command('plan <directory>'))
    .description('what the files of a directory would change, and what that affects')
    .option('--detailed-exitcode', 'exit with 2 where something is to be changed, and 0 where nothing is')
    .option('-o, --out <file>', 'keep the plan, for aos apply --plan')
    .addHelpText(
      'after',
      '\nExit codes: 0 the plan is made, 1 a file is faulty or the service refuses; with --detailed-exitcode 2 is for changes.\n\nExample:\n  aos plan config --detailed-exitcode',
    )
    .action(marking(plan));
  fromSource(program.command('apply <directory>'))
    .description('bring the workspace to what the files say: all of it, or nothing')
    .option('-y, --yes', 'do not ask')
    .option('-p, --plan <file>', 'apply what `aos plan --out` has shown, unless somebody changed it since')
    .option('--revision <name>', 'what the files are a state of (default: GITHUB_SHA, CI_COMMIT_SHA)')
    .addHelpText(
      'after',
      '\nExamples:\n  aos apply config\n  aos plan config --out plan.json && aos apply config --plan plan.json --yes',
    )
    .action(marking(apply));
  addDeployedCommand(program);
}

const STATES = { as_applied: 'as applied', changed: 'changed by hand', gone: 'deleted by hand' } as const;

const addDeployedCommand = list('deployed', listDeployed, {
  about: 'what came from files, when and by whom, and whether it was changed by hand since',
  columns:
    'KIND kind, NAME name, STATE, APPLIED (UTC) applied_at, BY applied_by, REVISION revision~12, FILE file, SOURCE? source',
  cells: { STATE: (row) => STATES[row.state] },
  empty: 'nothing came from files; begin with: aos export <directory>',
});

async function exportFiles(directory: string, { json }: { json?: boolean }): Promise<void> {
  const service = await openService(process.env);
  const { data } = await service.controlPlane<ManifestsExportResponse>('GET', MANIFESTS);
  const { written, same } = await writeManifests(directory, data);
  await writeSchemas(directory, (kind) => service.open(`/schemas/${kind}.json`));
  if (json) return printJson({ directory, written, same });
  for (const file of written) print(file);
  print(`${written.length} written, ${same} as they were; next: aos plan ${directory}`);
}

/** Has GitHub mark the lines that are at fault, where it is GitHub that runs this. */
const marking =
  <Options>(work: (directory: string, options: Options) => Promise<void>) =>
  async (directory: string, options: Options): Promise<void> =>
    work(directory, options).catch((error: unknown) => {
      if (error instanceof FaultyFiles && process.env.GITHUB_ACTIONS === 'true') {
        for (const { file, line, message } of error.faults) {
          print(`::error file=${oneLine(join(directory, file))},line=${line}::${oneLine(message)}`);
        }
      }
      throw error;
    });

async function plan(directory: string, { json, detailedExitcode, out, ...of }: PlanOptions): Promise<void> {
  const files = await readManifests(directory);
  const found = await ask<ManifestPlan>(await openService(process.env), 'plan', files, bodyOfSource(of));
  if (out !== undefined) await writeFile(out, `${JSON.stringify(found, null, 2)}\n`);
  if (json) printJson(found);
  else printPlan(found);
  if (detailedExitcode && found.changes.length > 0) process.exitCode = CHANGES;
}

async function apply(directory: string, { json, yes, plan: kept, revision, ...of }: ApplyOptions): Promise<void> {
  const files = await readManifests(directory);
  const service = await openService(process.env);
  const planned = kept === undefined ? await ask<ManifestPlan>(service, 'plan', files, bodyOfSource(of)) : undefined;
  if (planned && !json) printPlan(planned);
  if (planned?.changes.length === 0 && planned.taken_over === 0) {
    if (json) printJson(planned);
    return;
  }
  if (!yes && planned?.changes.length !== 0) await confirm();
  const state = planned ? planned.state : (await readFields(kept ?? '')).state;
  if (typeof state !== 'string') throw new CliError(`${kept} is no plan of aos plan --out`);
  const done = await ask<ManifestPlan>(service, 'apply', files, {
    ...bodyOfSource(of),
    state,
    revision: revision ?? process.env.GITHUB_SHA ?? process.env.CI_COMMIT_SHA ?? null,
  });
  if (json) return printJson(done);
  if (!planned) printPlan(done);
  const count = done.changes.length;
  print(`applied: ${count === 1 ? '1 change' : `${count} changes`}`);
}

const bodyOfSource = ({ prune, source }: SourceOptions) => ({
  ...(prune && { prune }),
  ...(source !== undefined && { source }),
});

/** @throws FaultyFiles where a file is at fault */
async function ask<T>(
  service: ServiceClient,
  what: 'plan' | 'apply',
  files: readonly ManifestFile[],
  more: object = {},
): Promise<T> {
  try {
    return await service.controlPlane<T>('POST', `${MANIFESTS}/${what}`, { ...bodyOf(files, process.env), ...more });
  } catch (error) {
    const faulty = error instanceof ServiceProblem && error.status === 422 ? faultsIn(error.detail, files) : undefined;
    if (faulty) throw faulty;
    throw error;
  }
}

/** @throws CliError where the answer is no, or nobody is there to ask */
async function confirm(): Promise<void> {
  if (!process.stdin.isTTY) throw new CliError('say --yes where nobody can be asked; nothing is changed');
  if (!(await agrees('apply these changes?'))) throw new CliError('nothing is changed');
}
