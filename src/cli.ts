/** `aos`: the command line. Each command loads what it needs when it is called, so that `--help` is instant. */
import { Command } from 'commander';
import { addBillingCommands } from './cli/billing.ts';
import { addBackupCommands } from './cli/backup.ts';
import { addCostCommand } from './cli/costs.ts';
import { addDemoCommand } from './cli/demo.ts';
import { addDeploymentCommands } from './cli/deployments.ts';
import { addDoctorCommand } from './cli/doctor.ts';
import { addFlagCommands } from './cli/flags.ts';
import { addIntegrationCommands } from './cli/integrations.ts';
import { addJobCommands } from './cli/jobs.ts';
import { addKeyCommands } from './cli/keys.ts';
import { addLoginCommands } from './cli/login.ts';
import { addMemoryCommands } from './cli/memory.ts';
import { CliError, paint, printAside } from './cli/output.ts';
import { addProjectCommands } from './cli/project.ts';
import { addRunCommands } from './cli/runs.ts';
import { addSecretsCommands } from './cli/secrets.ts';
import { addSkillCommands } from './cli/skills.ts';
import { addStartCommand } from './cli/start.ts';
import { addSystemCommands } from './cli/system.ts';
import { addToolCommands } from './cli/tools.ts';
import { addMemberCommands } from './cli/members.ts';
import { addWorkspaceCommands } from './cli/workspaces.ts';
import { ConfigError, loadEnvFile } from './platform/core/config.ts';

loadEnvFile();

const program = new Command('aos')
  .description('Agent Orchestration Service: run it, and work with it.')
  .addHelpText(
    'after',
    `
Where the service is: AOS_URL, AOS_API_KEY and AOS_SESSION, else what \`npm start\` left in DATA_DIR (.data).

Examples:
  aos demo                                    see it all work
  aos start                                   run the service here
  aos run assistant "What is 17% of 2,340?" -f
  aos project start blog-post --brief "Why small teams should write things down" --watch
  aos doctor                                  find out what is wrong`,
  )
  .showHelpAfterError('(aos --help lists the commands)');
addStartCommand(program);
addDemoCommand(program);
addRunCommands(program);
addProjectCommands(program);
addMemoryCommands(program);
addSkillCommands(program);
addIntegrationCommands(program);
addToolCommands(program);
addWorkspaceCommands(program);
addMemberCommands(program);
addJobCommands(program);
addKeyCommands(program);
addBillingCommands(program);
addLoginCommands(program);
addCostCommand(program);
addFlagCommands(program);
addSystemCommands(program);
addSecretsCommands(program);
addBackupCommands(program);
addDeploymentCommands(program);
addDoctorCommand(program);

// A reader that has seen enough (`aos runs | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

try {
  await program.parseAsync();
} catch (error) {
  const isExpected = error instanceof CliError || error instanceof ConfigError;
  const message =
    error instanceof Error ? (isExpected ? error.message : (error.stack ?? error.message)) : String(error);
  printAside(`${paint('red', 'error:')} ${message}`);
  process.exitCode = 1;
}
