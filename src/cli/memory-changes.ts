/** Holds the parts of `aos memory` that change entries. */
import type { MemoryEntry, MemoryVerifyResponse } from '../../client/src/api.ts';
import { first } from '../platform/core/present.ts';
import { openService } from './client.ts';
import { readText } from './input.ts';
import { ENTRIES, entryPath, titleOf, type Output } from './memory-reads.ts';
import { confirmed, type Confirming } from './otp.ts';
import { CliError, oneLine, print, printJson, shortTime } from './output.ts';

interface Written extends Output {
  file?: string;
}

interface Described extends Written {
  type?: string;
  slug?: string;
  name?: string;
  description?: string;
  agent?: string;
  scope?: string;
}

async function contentOf(given: string | undefined, file: string | undefined): Promise<string | undefined> {
  if (given !== undefined && file !== undefined) throw new CliError('give the content or --file, not both');
  return file === undefined ? given : readText(file);
}

async function requiredContent(given: string | undefined, file: string | undefined): Promise<string> {
  const content = await contentOf(given, file);
  if (content === undefined) throw new CliError('give the content, or --file');
  return content;
}

const tell = (reply: unknown, { json }: Output, line: string): void => (json ? printJson(reply) : print(oneLine(line)));

export async function add(
  given: string | undefined,
  { json, file, type = 'note', source, always, ...fields }: Described & { source?: string; always?: boolean },
): Promise<void> {
  const content = await requiredContent(given, file);
  const body = { ...fields, content, type, source_attribution: source, always_load: always };
  const service = await openService(process.env);
  const made = await service.controlPlane<MemoryEntry>('POST', ENTRIES, body);
  tell(made, { json }, `${made.id}: ${titleOf(made)} is kept`);
}

export async function supersede(
  id: number,
  given: string | undefined,
  { json, file, ...fields }: Described,
): Promise<void> {
  const body = { ...fields, content: await requiredContent(given, file) };
  const service = await openService(process.env);
  const made = await service.controlPlane<MemoryEntry>('POST', `${entryPath(id)}/supersede`, body);
  tell(made, { json }, `${made.id}: ${titleOf(made)} is in the place of ${id}`);
}

interface EditOptions extends Written, Confirming {
  description?: string;
  scope?: string;
  always?: boolean;
  archive?: boolean;
  restore?: boolean;
  reEmbed?: boolean;
}

export async function edit(id: number, given: string | undefined, options: EditOptions): Promise<void> {
  const { json, file, challenge, code, description, scope, always, archive, restore, reEmbed } = options;
  const content = await contentOf(given, file);
  const body = {
    content,
    description,
    scope,
    always_load: always,
    status: archive ? 'archived' : restore ? 'active' : undefined,
    re_embed: reEmbed ?? (content === undefined ? undefined : true),
  };
  const service = await openService(process.env);
  const request = { method: 'PATCH', path: entryPath(id), body };
  const changed = await confirmed<MemoryEntry>(service, request, { challenge, code });
  tell(changed, { json }, `${id}: ${titleOf(changed)} is changed`);
}

export async function remove(ids: number[], { json, challenge, code }: Output & Confirming): Promise<void> {
  const service = await openService(process.env);
  const request =
    ids.length === 1
      ? { method: 'DELETE', path: entryPath(first(ids)) }
      : { method: 'POST', path: `${ENTRIES}/bulk-delete`, body: { ids } };
  await confirmed(service, request, { challenge, code });
  tell({ deleted: ids }, { json }, `deleted: ${ids.join(', ')}`);
}

export async function verify(id: number, { json }: Output): Promise<void> {
  const service = await openService(process.env);
  const reply = await service.controlPlane<MemoryVerifyResponse>('POST', `${entryPath(id)}/verify`);
  tell(reply, { json }, `${id} is verified, ${shortTime(reply.last_verified_at)} UTC`);
}
