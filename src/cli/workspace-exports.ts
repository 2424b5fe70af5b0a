/** The parts of `aos workspaces` that take a workspace out: archives are made, waited for and downloaded. */
import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Argument, type Command } from 'commander';
import type { WorkspaceExport } from '../../client/src/api.ts';
import { present } from '../platform/core/present.ts';
import { createExport, getExport } from '../resources/exports/contract.ts';
import { openService, outlastingRestarts, type ServiceClient } from './client.ts';
import { ask } from './commands.ts';
import { digestOf } from './digest.ts';
import { confirmable, type Confirming } from './otp.ts';
import { CliError, paint, print, printAside, printJson, printProgress, shortTime } from './output.ts';

interface ExportOptions extends Confirming {
  output?: string;
  archive?: string;
  wait?: boolean;
  json?: boolean;
}

const workspaceArgument = () => new Argument('<id>', 'of the identity provider, acc_...');
const pathOf = (id: string, archive = ''): string =>
  `/v1/workspaces/${encodeURIComponent(id)}/exports${archive && `/${encodeURIComponent(archive)}`}`;

export function addExportCommand(workspaces: Command): void {
  confirmable(workspaces.command('export').addArgument(workspaceArgument()))
    .description('everything of a workspace as one archive, without secrets; for its owners')
    .option('-o, --output <file>', 'in the place of the name that the archive has')
    .option('--archive <id>', 'download one that there is already, or go on with it')
    .option('--no-wait', 'begin to make it, and leave')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nA download that broke off goes on where it stopped when the command is repeated with --archive.\n\nExamples:\n  aos workspaces export acc_acme\n  aos workspaces export acc_acme --archive 01981f0e-... -o acme.tar.gz',
    )
    .action(exportWorkspace);
}

/** Makes an archive and downloads it. */
export async function exportWorkspace(id: string, options: ExportOptions): Promise<void> {
  const { archive, output, wait = true, json, challenge, code } = options;
  const service = outlastingRestarts(await openService(process.env));
  const begun = archive
    ? await ask(service, getExport, [id, archive])
    : await ask(service, createExport, [id], {}, { challenge, code });
  if (!wait) {
    if (json) printJson(begun);
    else print(`${begun.id} is being made; get it with: aos workspaces export ${id} --archive ${begun.id}`);
    return;
  }
  const made = await whenReady(service, id, begun);
  const file = output ?? present(made.filename, 'the name of an archive');
  await download(service, pathOf(id, made.id), made, file);
  if (json) printJson({ ...made, file });
  else sayWhatIsIn(made, file);
}

const LOOK_MS = 500;

async function whenReady(service: ServiceClient, id: string, begun: WorkspaceExport): Promise<WorkspaceExport> {
  let now = begun;
  let told = '';
  for (; now.status === 'queued' || now.status === 'running'; await sleep(LOOK_MS)) {
    now = await ask(service, getExport, [id, begun.id]);
    const { progress } = now;
    const line = progress
      ? `${progress.phase}: ${progress.percent}% of the tables, ${progress.rows} rows, ${progress.files} files`
      : now.status;
    // Elsewhere than on a terminal each would be a line of its own.
    if (line !== told) printProgress(line.padEnd(70), now.status === 'ready');
    told = line;
  }
  if (now.status === 'ready') return now;
  throw new CliError(
    now.status === 'failed' ? `the archive could not be made: ${now.error_code}` : `the archive was ${now.status}`,
  );
}

/** So often in a row nothing may come. */
const MAX_FAILURES = 5;
const AGAIN_MS = 1_000;

/**
 * Goes on where an earlier download stopped, and leaves the file whole or not at all.
 * @throws CliError where what came is not what the service says that it is
 */
async function download(
  service: ServiceClient,
  path: string,
  { size_bytes: size, sha256 }: WorkspaceExport,
  file: string,
): Promise<void> {
  const part = `${file}.part`;
  for (let failures = 0; ;) {
    const have = await sizeOf(part);
    if (have === size) break;
    try {
      await fetchFrom(service, `${path}/archive`, { part, have, tag: `"${sha256}"` });
    } catch (error) {
      if (error instanceof CliError) throw error;
      failures = (await sizeOf(part)) > have ? 0 : failures + 1;
      if (failures >= MAX_FAILURES) {
        throw new CliError(
          `the download broke off: repeat it with --archive, and it goes on at ${await sizeOf(part)} bytes`,
        );
      }
      printAside('the connection was lost; the download goes on');
      await sleep(AGAIN_MS);
    }
  }
  if ((await digestOf(part)) !== sha256) {
    await rm(part);
    throw new CliError('what was downloaded is not what the service made: download it again');
  }
  await rename(part, file);
}

async function fetchFrom(
  service: ServiceClient,
  path: string,
  { part, have, tag }: { part: string; have: number; tag: string },
): Promise<void> {
  const range: Record<string, string> = have > 0 ? { range: `bytes=${have}-`, 'if-range': tag } : {};
  const response = await service.download(path, range);
  const to = createWriteStream(part, { flags: response.status === 206 ? 'a' : 'w', mode: 0o600 });
  await pipeline(Readable.fromWeb(present(response.body)), to);
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

function sayWhatIsIn({ summary, expires_at }: WorkspaceExport, file: string): void {
  const { rows = 0, files = 0, missing = 0, secrets = 0 } = summary ?? {};
  print(`${paint('green', file)} has ${rows} rows and ${files} files; each is checked by SHA256SUMS in it`);
  if (missing > 0) print(`${missing} files are missing: their bytes were gone (manifest.json names them)`);
  if (secrets > 0) {
    const which = secrets === 1 ? '1 secret is' : `${secrets} secrets are`;
    print(`${which} not in it: manifest.json says where each is to be set again`);
  }
  if (expires_at) printAside(`the service keeps it until ${shortTime(expires_at)} UTC`);
}
