/** Adds `aos backup` and `aos restore`, which keep everything that `npm start` has in DATA_DIR as one file. */
import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { startLine } from './client.ts';
import { CliError, print, printJson } from './output.ts';

interface BackupOptions {
  dataDir?: string;
  json?: boolean;
}

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('write database, Temporal, files and secrets of a stopped embedded service to one file')
    .argument('<file>', 'for example backup.tar.gz; it holds secrets')
    .option('-d, --data-dir <path>', 'where the data is kept (default: DATA_DIR, else .data)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nStop the service first. With a database of your own use pg_dump: see docs/operate/operations.md.',
    )
    .action(async (file: string, options: BackupOptions) => {
      requireEmbedded();
      const { backUp } = await import('../embedded/backup.ts');
      const dataDir = dataDirOf(options);
      await backUp(dataDir, file);
      const { size } = await stat(file);
      if (options.json) printJson({ file, data_dir: dataDir, size_bytes: size });
      else print(`${dataDir} is in ${file} (${(size / 1e6).toFixed(1)} MB); it holds every secret, keep it safe`);
    });
  program
    .command('restore')
    .description('make the data directory of an embedded service from such a file; work in flight goes on at the start')
    .argument('<file>', 'what aos backup wrote')
    .option('-d, --data-dir <path>', 'an empty or new directory (default: DATA_DIR, else .data)')
    .option('--json', 'print JSON')
    .action(async (file: string, options: BackupOptions) => {
      requireEmbedded();
      const { restore } = await import('../embedded/backup.ts');
      const dataDir = dataDirOf(options);
      await restore(file, dataDir);
      if (options.json) printJson({ file, data_dir: dataDir });
      else print(`${file} is restored to ${dataDir}; ${startLine(dataDir)} goes on with it`);
    });
}

const dataDirOf = ({ dataDir = process.env.DATA_DIR || '.data' }: BackupOptions): string => dataDir;

function requireEmbedded(): void {
  if (!process.env.DATABASE_URL) return;
  throw new CliError(
    'the database is the one of DATABASE_URL: use pg_dump and pg_restore, see docs/operate/operations.md',
  );
}
