/** The verbs that every group of commands shares, and the check that a word after a group names a command. */
import type { Command } from 'commander';
import { nearest } from '../platform/core/nearest.ts';

/** Each verb with the words that also work for it, in every group that has the verb. */
export const VERBS: Readonly<Record<string, readonly string[]>> = {
  list: ['ls'],
  show: ['get'],
  create: ['add', 'new'],
  update: ['edit', 'change'],
  delete: ['remove'],
};

/** Adds the other words for each verb of a group, and refuses a word that names no command of it. */
export function completeGroup(group: Command): void {
  for (const command of group.commands) {
    for (const word of VERBS[command.name()] ?? []) if (!find(group, word)) command.alias(word);
  }
  group.hook('preSubcommand', refuseUnknown);
}

const namesOf = (command: Command): string[] => [command.name(), ...command.aliases()];
const find = (group: Command, word: string): Command | undefined =>
  group.commands.find((command) => namesOf(command).includes(word));

/** Without this check, commander takes a misspelt command for an argument of the group's default command. */
function refuseUnknown(group: Command, chosen: Command): void {
  const [word] = group.args;
  if (word === undefined || word.startsWith('-') || find(group, word) || chosen.registeredArguments.length > 0) return;
  const near = nearest(word, group.commands.flatMap(namesOf));
  group.error(`error: unknown command '${word}'${near === undefined ? '' : `\n(Did you mean ${near}?)`}`, {
    code: 'commander.unknownCommand',
  });
}
