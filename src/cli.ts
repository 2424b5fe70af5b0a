/** `aos`: the command line. Each command loads what it needs when it is called, so that `--help` is instant. */
import { CliError, paint, printAside } from './cli/output.ts';
import { createProgram } from './cli/program.ts';
import { ConfigError, loadEnvFile } from './platform/core/config.ts';

loadEnvFile();

// A reader that has seen enough (`aos runs | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

try {
  await createProgram().parseAsync();
} catch (error) {
  const isExpected = error instanceof CliError || error instanceof ConfigError;
  const message =
    error instanceof Error ? (isExpected ? error.message : (error.stack ?? error.message)) : String(error);
  printAside(`${paint('red', 'error:')} ${message}`);
  process.exitCode = 1;
}
