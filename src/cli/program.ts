/** Lists every command of `aos`. A command that is not added here does not exist. */
import { Command } from 'commander';
import { addAgentCommands } from './agents.ts';
import { addAuditCommand } from './audit.ts';
import { addBillingCommands } from './billing.ts';
import { addBackupCommands } from './backup.ts';
import { addChatCommands } from './chat.ts';
import { addCompletionCommand } from './completion.ts';
import { addCostCommand } from './costs.ts';
import { addDemoCommand } from './demo.ts';
import { addDeploymentCommands } from './deployments.ts';
import { addDoctorCommand } from './doctor.ts';
import { addFileCommands } from './files.ts';
import { addFlagCommands } from './flags.ts';
import { addInboxCommands } from './inbox.ts';
import { addIntegrationCommands } from './integrations.ts';
import { addJobCommands } from './jobs.ts';
import { addKeyCommands } from './keys.ts';
import { addLoginCommands } from './login.ts';
import { addMemoryCommands } from './memory.ts';
import { addOutputCommands } from './outputs.ts';
import { addProjectCommands } from './project.ts';
import { addRunCommands } from './runs.ts';
import { addSearchCommand } from './search.ts';
import { addSecretsCommands } from './secrets.ts';
import { addSkillCommands } from './skills.ts';
import { addStartCommand } from './start.ts';
import { addSystemCommands } from './system.ts';
import { addTokenCommands } from './tokens.ts';
import { addToolCommands } from './tools.ts';
import { addMemberCommands } from './members.ts';
import { OWN_VERSION } from './version.ts';
import { addWebhookCommands } from './webhooks.ts';
import { addWorkflowCommands } from './workflows.ts';
import { addWorkspaceCommands } from './workspaces.ts';

export function createProgram(): Command {
  const program = new Command('aos')
    .description('Agent Orchestration Service: run it, and work with it.')
    .version(OWN_VERSION)
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
    .showHelpAfterError('(aos --help lists the commands)')
    .exitOverride();
  addStartCommand(program);
  addDemoCommand(program);
  addRunCommands(program);
  addProjectCommands(program);
  addAgentCommands(program);
  addWorkflowCommands(program);
  addFileCommands(program);
  addChatCommands(program);
  addSearchCommand(program);
  addInboxCommands(program);
  addMemoryCommands(program);
  addSkillCommands(program);
  addIntegrationCommands(program);
  addToolCommands(program);
  addWorkspaceCommands(program);
  addMemberCommands(program);
  addWebhookCommands(program);
  addOutputCommands(program);
  addAuditCommand(program);
  addJobCommands(program);
  addKeyCommands(program);
  addTokenCommands(program);
  addBillingCommands(program);
  addLoginCommands(program);
  addCostCommand(program);
  addFlagCommands(program);
  addSystemCommands(program);
  addSecretsCommands(program);
  addBackupCommands(program);
  addDeploymentCommands(program);
  addDoctorCommand(program);
  addCompletionCommand(program);
  return program;
}
