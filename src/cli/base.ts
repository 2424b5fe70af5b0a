/** `aos` before its commands: its name, its help, and how it ends. */
import { Command } from 'commander';
import { OWN_VERSION } from './version.ts';

export const createBase = (): Command =>
  new Command('aos')
    .description('Agent Orchestration Service: run it, and work with it.')
    .version(OWN_VERSION)
    // `--version` of a command is that command's, not a question for the version of the service.
    .enablePositionalOptions()
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
