/** Keeps what callers of commands say in their own words, so that a workflow's history has only the id of it. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import type { CommandTexts } from '../model.ts';

interface CommandRef {
  projectId: string;
  /** The id of the update that carries the command out. */
  commandId: string;
}

export async function keepCommandTexts(db: Database, ref: CommandRef, texts: CommandTexts): Promise<void> {
  await db.rows(sql`
    insert into project_commands (project_id, command_id, args)
    values (${ref.projectId}, ${ref.commandId}, ${JSON.stringify(texts)}::jsonb)
    on conflict (project_id, command_id) do nothing`);
}

export async function readCommandTexts(db: Database, ref: CommandRef): Promise<CommandTexts> {
  const [row] = await db.rows<{ args: CommandTexts | null }>(sql`
    select args from project_commands where project_id = ${ref.projectId} and command_id = ${ref.commandId}`);
  return row?.args ?? {};
}
