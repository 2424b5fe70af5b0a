/**
 * The HTTP contract of chat. A message is a run on the thread, so its answer is read from the messages or from the run,
 * and taken back with the cancellation of that run.
 */
import { z } from 'zod';
import { endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { limit, notBlank, offset, pageReply, Timestamp } from '../../platform/http/schemas.ts';
import { AttachmentList } from '../attachments/contract.ts';
import { MAX_FILES, MAX_UPLOAD_BYTES } from '../attachments/model.ts';
import { RUN_STATUSES } from '../runs/model.ts';
import { MESSAGE_ROLES } from './model.ts';

const ThreadPath = z.object({ id: z.string() });
const text = (max: number) => notBlank(z.string().max(max));
const Title = text(200);
const Agent = z.string().min(1).max(64);

const NewThread = z
  .object({
    title: Title.nullish().describe('Without one, the beginning of the first message'),
    agent: Agent.nullish().describe('Who answers; without one the classifier picks for each message'),
  })
  .meta({ id: 'NewChatThread' });
export type NewThread = z.output<typeof NewThread>;

const ThreadChange = z
  .object({ title: Title.optional(), agent: Agent.nullable().optional() })
  .meta({ id: 'ChatThreadChange' });
export type ThreadChange = z.output<typeof ThreadChange>;

const Thread = z
  .object({
    id: z.uuid(),
    title: z.string().nullable(),
    agent: z.string().nullable(),
    created_by: z.string(),
    created_at: Timestamp,
    updated_at: Timestamp.describe('Of the last message'),
  })
  .meta({ id: 'ChatThread' });

const Message = z
  .object({
    id: z.string().describe('`<run_id>:user` or `<run_id>:assistant`'),
    run_id: z.string(),
    role: z.enum(MESSAGE_ROLES),
    agent: z.string().nullable(),
    content: z.string().nullable().describe('Null until the agent has answered'),
    status: z.enum(RUN_STATUSES).describe('Of the run'),
    error: z.string().nullable(),
    created_at: Timestamp.nullable().describe('Of an answer, when it was there'),
  })
  .meta({ id: 'ChatMessage' });
export type MessageRow = z.input<typeof Message>;

const NewMessage = z
  .object({
    content: text(100_000),
    attachment_ids: z.array(z.uuid()).max(MAX_FILES).default([]).describe('Files of the thread that it is about'),
    agent: Agent.nullish().describe('In the place of the agent of the thread'),
  })
  .meta({ id: 'NewChatMessage' });
export type NewMessage = z.output<typeof NewMessage>;

const Page = z.object({ limit: limit(200, 50), offset });
const MessagePage = Page.extend({ order: z.enum(['asc', 'desc']).default('asc').describe('By time') });
export type MessagePage = z.output<typeof MessagePage>;
export const listThreads = endpoint({
  id: 'chat.listThreads',
  path: '/v1/chat/threads',
  credential: 'identity',
  summary: 'Threads of the workspace, the one last used first',
  query: Page,
  reply: pageReply(Thread),
});

export const createThread = endpoint({
  id: 'chat.createThread',
  path: '/v1/chat/threads',
  credential: 'identity',
  summary: 'Begin a conversation',
  body: NewThread.default({}),
  audited: false,
  status: 201,
  reply: Thread,
  problems: ['not_found'],
});

export const getThread = endpoint({
  id: 'chat.getThread',
  path: '/v1/chat/threads/{id}',
  credential: 'identity',
  summary: 'One thread',
  params: ThreadPath,
  reply: Thread,
  problems: ['not_found'],
});

export const updateThread = endpoint({
  id: 'chat.updateThread',
  method: 'patch',
  path: '/v1/chat/threads/{id}',
  credential: 'identity',
  summary: 'Rename a thread, or have another agent answer from now on',
  params: ThreadPath,
  body: ThreadChange.default({}),
  audited: false,
  reply: Thread,
  problems: ['bad_request', 'not_found'],
});

export const deleteThread = endpoint({
  id: 'chat.deleteThread',
  method: 'delete',
  path: '/v1/chat/threads/{id}',
  credential: 'identity',
  summary: 'Delete a thread and its files, and cancel what is in flight; its runs stay in the list of runs',
  params: ThreadPath,
  audited: false,
  reply: NO_CONTENT,
  problems: ['not_found'],
});

export const listMessages = endpoint({
  id: 'chat.listMessages',
  path: '/v1/chat/threads/{id}/messages',
  credential: 'identity',
  summary: 'What was said: each message and, after it, its answer',
  params: ThreadPath,
  query: MessagePage,
  reply: pageReply(Message),
  problems: ['not_found'],
});

export const sendMessage = endpoint({
  id: 'chat.sendMessage',
  path: '/v1/chat/threads/{id}/messages',
  credential: 'identity',
  summary: 'Say something: a run on the thread, which sees what was said before',
  description: 'Messages of one thread are answered one after another, in the order in which they were accepted.',
  params: ThreadPath,
  body: NewMessage,
  audited: false,
  status: 201,
  reply: z.object({ message_id: z.string(), run_id: z.string(), status: z.literal('queued') }),
  problems: ['plan_limit_exceeded', 'not_found', 'runtime_unreachable'],
});

export const listThreadAttachments = endpoint({
  id: 'chat.listAttachments',
  path: '/v1/chat/threads/{id}/attachments',
  summary: 'The files of a thread, oldest first',
  params: ThreadPath,
  reply: AttachmentList,
  problems: ['not_found'],
});

export const uploadThreadAttachments = endpoint({
  id: 'chat.uploadAttachments',
  method: 'post',
  path: '/v1/chat/threads/{id}/attachments',
  summary: 'Put files beside a thread, all of them or none',
  description: 'Its runs can read them with the tool `read_attachment`. The answer lists those of this upload.',
  params: ThreadPath,
  uploads: { field: 'files', maxFiles: MAX_FILES, maxBytes: MAX_UPLOAD_BYTES },
  audited: false,
  status: 201,
  reply: AttachmentList,
  problems: ['not_found', 'invalid_upload', 'payload_too_large'],
});

export const turnCredentials = endpoint({
  id: 'chat.turn',
  path: '/v1/chat/call/turn',
  // Whoever only looks takes no part in a call.
  right: 'workspace.change',
  summary: 'Credentials of the TURN servers for a call, for a limited time',
  reply: z.object({
    username: z.string(),
    credential: z.string(),
    ttl: z.int().describe('Seconds'),
    uris: z.array(z.string()),
  }),
  problems: ['not_found'],
});
