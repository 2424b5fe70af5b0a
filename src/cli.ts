/** `aos`: the command line. Each command loads what it needs when it is called, so that `--help` is instant. */
import { runCommand } from './cli/run-command.ts';
import { loadEnvFile } from './platform/core/config.ts';

loadEnvFile();

// A reader that has seen enough (`aos runs | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = (await runCommand(process.argv.slice(2))) || process.exitCode;
