/** Adds `aos chat`: conversations with an agent. */
import type { Command } from 'commander';
import type {
  Attachment,
  ChatListMessagesResponse,
  ChatMessage,
  ChatSendMessageResponse,
  ChatThread,
  ChatUploadAttachmentsResponse,
  Run,
} from '../../client/src/api.ts';
import { describeAttachment, formOf } from './attached.ts';
import { openService, outlastingRestarts, type ServiceClient } from './client.ts';
import { createTextWriter, followRun } from './following.ts';
import { asList, list, report, type ListOptions } from './listing.ts';
import {
  CliError,
  oneLine,
  paint,
  paintStatus,
  print,
  printAside,
  printJson,
  printPart,
  shorten,
  shortTime,
} from './output.ts';
import { withoutCode } from './problems.ts';

const THREADS = '/v1/chat/threads';
const pathOf = (id: string, what = ''): string => `${THREADS}/${encodeURIComponent(id)}${what}`;

export function addChatCommands(program: Command): void {
  const chat = program.command('chat').description('conversations with an agent');
  const json = (command: Command) => command.option('--json', 'print JSON');
  asList(chat.command('list', { isDefault: true }))
    .description('threads, the one last used first')
    .option('-n, --limit <count>', 'how many', '20')
    .action(listThreads);
  json(chat.command('create'))
    .description('begin a conversation')
    .option('-a, --agent <slug>', 'who answers; otherwise the classifier picks one each time')
    .option('-t, --title <text>', 'what it is about')
    .action(begin);
  json(chat.command('show <thread>'))
    .description('what was said, oldest first')
    .option('-n, --limit <count>', 'the latest so many', '50')
    .action(show);
  json(chat.command('say <thread> <text>'))
    .description('say something, and wait for the answer')
    .option('-f, --file <path...>', 'files to be read: PDF, Office, EPUB, HTML, CSV, text, pictures')
    .action(say);
  json(chat.command('update <thread> <title>').alias('rename'))
    .description('give it another title')
    .action((id, title, options) => change(id, { title }, options));
  json(chat.command('delete <thread>')).description('with its files; its runs stay').action(remove);
  chat.addHelpText(
    'after',
    '\nExamples:\n  aos chat create --agent assistant --title "Release notes"\n  aos chat say 01kb... "What is new this week?"\n  aos chat say 01kb... "Sum it up" --file report.pdf',
  );
}

const listThreads = ({ limit, ...options }: ListOptions & { limit: string }) =>
  list<ChatThread>(
    {
      path: THREADS,
      query: { limit },
      columns: [
        { title: 'THREAD', value: (row) => row.id },
        { title: 'AGENT', value: (row) => row.agent },
        { title: 'USED (UTC)', value: (row) => shortTime(row.updated_at) },
        { title: 'BY', value: (row) => row.created_by, isWide: true },
        { title: 'BEGUN (UTC)', value: (row) => shortTime(row.created_at), isWide: true },
        { title: 'TITLE', value: (row) => row.title && shorten(oneLine(row.title), 60) },
      ],
      empty: 'no conversations; begin one with: aos chat create --agent assistant',
    },
    options,
  );

async function begin({ agent, title, ...options }: { agent?: string; title?: string; json?: boolean }): Promise<void> {
  const body = { ...(agent !== undefined && { agent }), ...(title !== undefined && { title }) };
  const thread = await (await openService(process.env)).controlPlane<ChatThread>('POST', THREADS, body);
  report(thread, options, `${thread.id} has begun; say something: aos chat say ${thread.id} "Hello"`);
}

async function show(id: string, { limit, json }: { limit: string; json?: boolean }): Promise<void> {
  const service = await openService(process.env);
  const said = await service.controlPlane<ChatListMessagesResponse>(
    'GET',
    `${pathOf(id, '/messages')}?limit=${encodeURIComponent(limit)}&order=desc`,
  );
  if (json) return printJson(said);
  for (const message of said.data.toReversed()) printMessage(message);
}

function printMessage({ role, agent, content, status, error }: ChatMessage): void {
  const who = role === 'user' ? 'you' : (agent ?? 'agent');
  print(
    `${paint('bold', who)}  ${content ?? `(${paintStatus(status)}${error ? `: ${withoutCode(oneLine(error))}` : ''})`}`,
  );
}

async function say(
  id: string,
  text: string,
  { json, file: files = [] }: { json?: boolean; file?: string[] },
): Promise<void> {
  const service = outlastingRestarts(await openService(process.env));
  const attached = files.length > 0 ? await upload(service, id, files) : [];
  // What is read of them is no part of the answer.
  for (const file of attached) printAside(describeAttachment(file));
  const { run_id: runId } = await service.controlPlane<ChatSendMessageResponse>('POST', pathOf(id, '/messages'), {
    content: text,
    attachment_ids: attached.map((file) => file.id),
  });
  const reading = createTextWriter(printPart);
  for await (const update of followRun(service, runId, { text: process.stdout.isTTY && !json })) {
    if (update.kind === 'text') reading.add(update.piece);
  }
  reading.endLine();
  const run = await service.controlPlane<Run>('GET', `/v1/runs/${runId}/detail`);
  if (json) printJson(run);
  else if (run.output !== null && !reading.hasWritten(run.output)) print(run.output);
  if (run.status !== 'succeeded')
    throw new CliError(`run ${runId} ${run.status}${run.error ? `: ${withoutCode(run.error)}` : ''}`);
}

async function upload(service: ServiceClient, id: string, files: readonly string[]): Promise<Attachment[]> {
  const form = await formOf(files);
  const { data } = await service.controlPlane<ChatUploadAttachmentsResponse>('POST', pathOf(id, '/attachments'), form);
  return data;
}

async function change(id: string, body: object, options: { json?: boolean }): Promise<void> {
  const thread = await (await openService(process.env)).controlPlane<ChatThread>('PATCH', pathOf(id), body);
  report(thread, options, `${id} is called ${thread.title}`);
}

async function remove(id: string, options: { json?: boolean }): Promise<void> {
  await (await openService(process.env)).controlPlane('DELETE', pathOf(id));
  report({ id, deleted: true }, options, `${id} is deleted`);
}
