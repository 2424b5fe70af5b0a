/** Adds `aos memory`, which finds, adds and corrects what the workspace knows, and shows how it is linked. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { ENTRY_STATUSES } from '../resources/memory/model.ts';
import { add, edit, remove, supersede, verify } from './memory-changes.ts';
import { asList } from './listing.ts';
import { graph, list, search, show, stats } from './memory-reads.ts';
import { addReEmbedCommand } from './memory-re-embed.ts';
import { confirmable } from './otp.ts';

const EXAMPLES = `
Examples:
  aos memory create "The bakery opens at six." --type fact --slug opening-hours
  aos memory search "when can I buy bread?"
  aos memory supersede 12 "The bakery opens at seven, see [[holidays]]."
  aos memory update 12 --archive
  aos memory delete 12 13 14`;

export function addMemoryCommands(program: Command): void {
  const memory = program
    .command('memory')
    .description('what the workspace knows: find it, add to it, correct it')
    .addHelpText('after', EXAMPLES);
  addReads(memory);
  addChanges(memory);
  addReEmbedCommand(memory);
}

const json = (command: Command): Command => command.option('--json', 'print JSON');
const ofEntry = (command: Command): Command => json(command).argument('<id>', 'number of the entry', entryId);

const filtered = (command: Command): Command =>
  asList(command)
    .option('-a, --agent <slug>', 'of one agent')
    .option('-t, --type <label>', 'of one type')
    .option('--scope <scope>', 'of one scope')
    .option('-n, --limit <count>', 'how many', '20');

function addReads(memory: Command): void {
  filtered(memory.command('list', { isDefault: true }))
    .description('newest first')
    .action(list);
  filtered(memory.command('search <question>')).description('by what it means, the closest first').action(search);
  ofEntry(memory.command('show')).description('an entry with what it links to').action(show);
  json(memory.command('graph'))
    .description('entries and the links between them')
    .option('-t, --type <labels...>', 'of these types')
    .option('-a, --agent <slug>', 'of one agent')
    .addOption(new Option('-s, --status <status>', 'in this state').choices(ENTRY_STATUSES).default('active'))
    .option('-n, --limit <count>', 'how many entries, the newest', '100')
    .action(graph);
  json(memory.command('stats')).description('how many entries there are of what').action(stats);
}

const written = (command: Command): Command =>
  command
    .argument('[content]', 'what is to be known; [[slug]] in it links to another entry')
    .option('-f, --file <path>', 'the content from a file; - reads standard input');

const described = (command: Command): Command =>
  command
    .option('-t, --type <label>', 'note, fact, pattern, feedback, project, reference, ...')
    .option('--slug <slug>', 'what links name it by')
    .option('--name <name>', 'its title')
    .option('-d, --description <text>', 'what it is about')
    .option('-a, --agent <slug>', 'whose it is; by default everybody’s')
    .option('--scope <scope>', 'shared, or personal to its agent');

function addChanges(memory: Command): void {
  described(written(json(memory.command('create'))))
    .description('keep something; a note, unless --type says otherwise')
    .option('--source <text>', 'where it is from')
    .option('--always', 'show it to its agent in every run')
    .action(add);
  confirmable(written(ofEntry(memory.command('update'))))
    .description('change what is given, and nothing else; needs a code')
    .option('-d, --description <text>', 'what it is about')
    .option('--scope <scope>', 'shared, or personal to its agent')
    .option('--always', 'show it to its agent in every run')
    .option('--no-always', 'leave it to searches')
    .addOption(new Option('--archive', 'recall it no more').conflicts('restore'))
    .option('--restore', 'recall it again')
    .option('--re-embed', 'have searches go by its content as it is; new content does so')
    .option('--no-re-embed', 'have searches go by the old content')
    .action(edit);
  confirmable(json(memory.command('delete')))
    .argument('<ids...>', 'numbers of the entries', entryIds)
    .description('delete entries for good, all of them or none; needs a code')
    .action(remove);
  ofEntry(memory.command('verify')).description('note that it still holds').action(verify);
  described(written(ofEntry(memory.command('supersede'))))
    .description('put a new entry in its place, which inherits what is not given')
    .action(supersede);
}

function entryId(given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw new InvalidArgumentError('expects the number of an entry');
}
const entryIds = (given: string, before: number[] = []): number[] => [...before, entryId(given)];
