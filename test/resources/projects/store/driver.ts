/** Moves the phases of a project as its workflows would, for tests of what the record makes of it. */
import { expect } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first, last } from '../../../../src/platform/core/present.ts';
import type { Database } from '../../../../src/platform/db/client.ts';
import type { AttemptBeginning, Cascade, PhaseOpening } from '../../../../src/resources/projects/model.ts';
import * as commands from '../../../../src/resources/projects/commands.ts';
import { createProjectEngine } from '../../../../src/resources/projects/engine/index.ts';
import { attemptsOf, stepOf, taskOf, type InsertedProject } from '../../../support/fixtures/projects-store.ts';

const effectOf = () => 'idempotent' as const;
const ann = { kind: 'human', id: 'ann@acme.example' } as const;
let given = 0;
let keys = 0;
const key = () => `key-${(keys += 1)}`;
const phaseIn = (path: string): string => first(path.split('/'));

export function createDriver(db: Database) {
  const engine = createProjectEngine(db);
  const by = (actor: { kind: 'human'; id: string } = ann) => ({ actor, commandId: `command-${(given += 1)}` });
  const refOf = async (made: InsertedProject, slug: string) => ({
    projectId: made.id,
    taskId: made.taskId(slug),
    iteration: (await taskOf(db, made, slug)).iteration,
  });

  const driver = {
    engine,
    refOf,
    by,

    /** Another start of the phase, whose first steps begin. */
    async tryToOpen(made: InsertedProject, slug: string): Promise<PhaseOpening> {
      const { iteration, ...ref } = await refOf(made, slug);
      const start = { ...ref, iteration: iteration + 1 };
      return engine.openAndBegin(start, { granted: null, key: key() }, effectOf);
    },
    async open(made: InsertedProject, slug: string): Promise<void> {
      expect((await driver.tryToOpen(made, slug)).kind).toBe('opened');
    },

    /** The step begins, unless it has. */
    async begin(made: InsertedProject, path: string): Promise<AttemptBeginning> {
      const dispatch = { ...(await refOf(made, phaseIn(path))), subtaskId: made.stepId(path), key: key() };
      return engine.beginAttempt({ ...dispatch, granted: false }, effectOf);
    },

    /**
     * The latest attempt of the step ends.
     * @param isLast says that the end of the phase is decided in the statement that ends the step
     */
    async settle(
      made: InsertedProject,
      path: string,
      how: 'succeeded' | 'failed' = 'succeeded',
      isLast = false,
      text = 'text',
    ) {
      const { id: attemptId, childRunId } = last(await attemptsOf(db, made, path));
      await db.rows(sql`
        update runs set status = ${how}::run_status, output = ${text}, completed_at = now(),
          started_at = now(), error = ${how === 'failed' ? 'tool_failed: no' : null}
        where id = ${childRunId}`);
      if (how === 'failed') {
        await db.rows(sql`update subtasks set attempts_used = 9 where id = ${made.stepId(path)}::uuid`);
      }
      const ref = await refOf(made, phaseIn(path));
      return engine.settleAndGoOn(ref, { attemptId, next: [], isLast }, effectOf);
    },
    /** The same, and the phase ends if nothing of it is left. */
    async end(made: InsertedProject, path: string, how: 'succeeded' | 'failed' = 'succeeded', isLast = false) {
      await driver.settle(made, path, how, isLast);
      await driver.close(made, phaseIn(path));
    },
    close: async (made: InsertedProject, slug: string) => engine.closePhase(await refOf(made, slug)),

    async run(made: InsertedProject, slug: string, steps = ['write'], isLast = false): Promise<void> {
      await driver.open(made, slug);
      for (const step of steps) {
        await driver.begin(made, `${slug}/${step}`);
        await driver.end(made, `${slug}/${step}`, 'succeeded', isLast);
      }
    },

    /** Somebody approves a gate that waits, or its time has come. */
    async approve(made: InsertedProject, path: string, actor: { kind: 'human'; id: string } = ann): Promise<void> {
      expect(await stepOf(db, made, path)).toMatchObject({ status: 'blocked' });
      const answer = { subtask_id: made.stepId(path), decision: 'approved' as const };
      await commands.resolveGate(db, { projectId: made.id, gateKind: null, ...by(actor), answer });
    },

    retrigger: (made: InsertedProject, phaseSlug: string, cascade: Cascade) =>
      commands.retriggerPhase(db, { projectId: made.id, phaseSlug, addendum: null, cascade, ...by() }),
    revert: (made: InsertedProject, phaseSlug: string, targetVersion: number, cascade: Cascade) =>
      commands.revertArtifact(db, { projectId: made.id, phaseSlug, targetVersion, cascade, reason: null, ...by() }),
    retry: (made: InsertedProject, path: string) =>
      commands.retrySubtask(db, { projectId: made.id, subtaskId: made.stepId(path), addendum: null, ...by() }),
    activate: (made: InsertedProject) =>
      db.rows(sql`update projects set status = 'active', pause_reason = null where id = ${made.id}`),
  };
  return driver;
}
