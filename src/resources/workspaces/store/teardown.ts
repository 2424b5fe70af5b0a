/** Ends in the record what a workspace has when it is taken down: keys, triggers and files. Each table says how. */
import type { Database } from '../../../platform/db/client.ts';
import type { DestructionStep, TenantData } from '../../../platform/db/tenant-data.ts';
import { forget } from '../lives.ts';

export const createTeardownRows = (db: Database, tables: TenantData) => {
  const runStep = (step: DestructionStep, customerId: string): Promise<void> =>
    db.transaction(async () => {
      for (const { atDestruction } of Object.values(tables)) {
        if (atDestruction?.step === step) await db.rows(atDestruction.statement(customerId));
      }
    });

  return {
    /** Revokes keys that open something here, and deletes those that are kept here and open something elsewhere. */
    async revokeKeys(customerId: string): Promise<void> {
      await runStep('keys', customerId);
      await forget(tables, customerId, 'destroyed', (statement) => db.rows(statement));
    },

    /** Jobs and heartbeats stay as they are, and none runs by itself again. */
    switchOffTriggers: (customerId: string) => runStep('triggers', customerId),

    /** Deletes the rows that name files of the workspace. */
    forgetFiles: (customerId: string) => runStep('files', customerId),
  };
};
