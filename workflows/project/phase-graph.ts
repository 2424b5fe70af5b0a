/** The phases of a project in pipeline order, and which of them are behind which. */
import { itemAt, present } from '../../src/platform/core/present.ts';
import { isDone, type BoardPhase, type TaskStatus } from '../../src/resources/projects/model.ts';

export function createPhaseGraph(given: readonly BoardPhase[]) {
  const phases = given.map((phase) => ({ ...phase }));
  const bySlug = new Map(phases.map((phase) => [phase.slug, phase]));

  function add(phase: BoardPhase): void {
    phases.push(phase);
    bySlug.set(phase.slug, phase);
  }

  return {
    phases,
    add,
    find: (slug: string): BoardPhase | undefined => bySlug.get(slug),

    setStatus(slug: string, status: TaskStatus): void {
      present(bySlug.get(slug)).status = status;
    },

    /** @returns phases that are pending and have everything before them done */
    pendingNext: (): BoardPhase[] =>
      phases.filter(
        ({ status, dependsOn }) =>
          status === 'pending' && dependsOn.every((position) => isDone(itemAt(phases, position).status)),
      ),

    areDone: (): boolean => phases.every(({ status }) => isDone(status)),

    /**
     * Takes over what the record says of these phases.
     * @returns whether anything changed
     */
    sync(recorded: readonly BoardPhase[]): boolean {
      let hasChanged = false;
      for (const row of recorded) {
        const phase = bySlug.get(row.slug);
        hasChanged ||= phase?.status !== row.status;
        if (phase) {
          phase.status = row.status;
          phase.iteration = Math.max(phase.iteration, row.iteration);
        } else {
          // An edit session of which this workflow was not told. In the record it is at the end too.
          add({ ...row });
        }
      }
      return hasChanged;
    },
  };
}
