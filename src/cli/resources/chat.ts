/** Declares `aos chat`: conversations with an agent. */
import type { Attachment, ChatMessage } from '../../../client/src/api.ts';
import {
  createThread,
  deleteThread,
  listMessages,
  listThreads,
  sendMessage,
  updateThread,
  uploadThreadAttachments,
} from '../../resources/chat/contract.ts';
import { getRunDetail } from '../../resources/runs/contract.ts';
import { describeAttachment } from '../attached.ts';
import { outlastingRestarts } from '../client.ts';
import { ask, command, group, list } from '../commands.ts';
import { createTextWriter, followRun } from '../following.ts';
import { CliError, oneLine, paint, paintStatus, print, printAside, printJson, printPart } from '../output.ts';
import { withoutCode } from '../problems.ts';

function lineOf({ role, agent, content, status, error }: ChatMessage): string {
  const who = role === 'user' ? 'you' : (agent ?? 'agent');
  const state = `(${paintStatus(status)}${error ? `: ${withoutCode(oneLine(error))}` : ''})`;
  return `${paint('bold', who)}  ${content ?? state}`;
}

export const chat = group(
  'chat',
  'conversations with an agent',
  [
    list('list', listThreads, {
      about: 'threads, the one last used first',
      flags: { limit: '-n, --limit <count> = 20 | how many' },
      columns: 'THREAD id, AGENT agent, USED (UTC) updated_at, BY? created_by, BEGUN (UTC)? created_at, TITLE title~60',
      empty: 'no conversations; begin one with: aos chat create --agent assistant',
    }),
    command('create', createThread, {
      about: 'begin a conversation',
      flags: {
        agent: '-a, --agent <slug> | who answers; otherwise the classifier picks one each time',
        title: '-t, --title <text> | what it is about',
      },
      say: ({ id }) => `${id} has begun; say something: aos chat say ${id} "Hello"`,
    }),
    command('show <thread>', listMessages, {
      about: 'what was said, oldest first',
      flags: { limit: '-n, --limit <count> = 50 | the latest so many' },
      fields: ({ limit }) => ({ limit, order: 'desc' }),
      say({ data }) {
        for (const message of data.toReversed()) print(lineOf(message));
      },
    }),
    command('say <thread> <text>', sendMessage, {
      about: 'say something, and wait for the answer',
      flags: { file: '-f, --file <path...> | files to be read: PDF, Office, EPUB, HTML, CSV, text, pictures' },
      async fields({ thread, text, file: files = [] }, service) {
        const attached: Attachment[] =
          files.length > 0 ? (await ask(service, uploadThreadAttachments, [thread], { files })).data : [];
        // What is read of them is no part of the answer.
        for (const file of attached) printAside(describeAttachment(file));
        return { content: text, attachment_ids: attached.map((file) => file.id) };
      },
      isQuiet: () => true,
      async then({ run_id }, _, service, isJson) {
        const reading = createTextWriter(printPart);
        for await (const update of followRun(service, run_id, { text: process.stdout.isTTY && !isJson })) {
          if (update.kind === 'text') reading.add(update.piece);
        }
        reading.endLine();
        const run = await ask(outlastingRestarts(service), getRunDetail, [run_id]);
        if (isJson) printJson(run);
        else if (run.output !== null && !reading.hasWritten(run.output)) print(run.output);
        if (run.status !== 'succeeded')
          throw new CliError(`run ${run_id} ${run.status}${run.error ? `: ${withoutCode(run.error)}` : ''}`);
      },
    }),
    command('update|rename <thread> <title>', updateThread, {
      about: 'give it another title',
      say: ({ title }, { thread }) => `${thread} is called ${title}`,
    }),
    command('delete <thread>', deleteThread, {
      about: 'with its files; its runs stay',
      json: (_, { thread }) => ({ id: thread, deleted: true }),
    }),
  ],
  'Examples:\n  aos chat create --agent assistant --title "Release notes"\n  aos chat say 01kb... "What is new this week?"\n  aos chat say 01kb... "Sum it up" --file report.pdf',
);
