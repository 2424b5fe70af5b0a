/** The database as it would be without the inbox, for what is compared with it. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../src/platform/db/client.ts';

/** What opens waits, revises them, closes them and tells of them. */
const TRIGGERS = {
  subtasks: ['waits_of_gate'],
  projects: ['waits_of_project'],
  waits: ['log_opened_wait', 'log_changed_wait', 'tell_of_new_wait', 'tell_of_changed_wait'],
};

export async function withoutWaits<T>(db: Database, work: () => Promise<T>): Promise<T> {
  const turn = async (how: 'disable' | 'enable') => {
    for (const [table, names] of Object.entries(TRIGGERS)) {
      for (const name of names) await db.rows(sql.raw(`alter table ${table} ${how} trigger ${name}`));
    }
  };
  await turn('disable');
  return work().finally(() => turn('enable'));
}
