/** What a changed artifact does downstream, for any pipeline. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { itemAt } from '../../../../src/platform/core/present.ts';
import { planCascade, type CascadePhase } from '../../../../src/resources/projects/backtracking/cascade.ts';
import { CASCADES, isDone, TASK_STATUSES } from '../../../../src/resources/projects/model.ts';

/** Pipelines in order: a phase depends on earlier ones only. */
const pipeline = fc
  .array(
    fc.record({
      status: fc.constantFrom(...TASK_STATUSES),
      mode: fc.constantFrom('lazy' as const, 'strict' as const, 'none' as const),
      upstream: fc.array(fc.nat({ max: 11 }), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((drawn) =>
    drawn.map(({ status, mode, upstream }, at): CascadePhase => {
      const dependsOn = [...new Set(upstream.filter((each) => each < at).map((each) => `p${each}`))];
      return { slug: `p${at}`, status, mode, dependsOn };
    }),
  );
const cases = fc.record({ phases: pipeline, at: fc.nat({ max: 11 }), cascade: fc.constantFrom(...CASCADES) });

const downstreamOf = (phases: readonly CascadePhase[], changed: string): Set<string> => {
  const reached = new Set([changed]);
  for (const { slug, dependsOn } of phases) if (dependsOn.some((each) => reached.has(each))) reached.add(slug);
  reached.delete(changed);
  return reached;
};

// Guards: a cascade reaches only phases downstream, each once, in pipeline order, and as its mode says.
test('planCascade', () => {
  fc.assert(
    fc.property(cases, ({ phases, at, cascade }) => {
      const changed = itemAt(phases, at % phases.length).slug;
      const plan = planCascade(phases, changed, cascade);
      const order = phases.map(({ slug }) => slug);
      const inOrder = (slugs: readonly string[]) => [...slugs].sort((a, b) => order.indexOf(a) - order.indexOf(b));
      expect(inOrder([...plan.markStale, ...plan.rerun])).toEqual(plan.affected);

      const touched = [...plan.affected, ...plan.skipped];
      expect(new Set(touched).size).toBe(touched.length);
      const downstream = downstreamOf(phases, changed);
      for (const slug of touched) expect(downstream).toContain(slug);

      for (const { slug, status, mode, dependsOn } of phases) {
        const wanted = cascade === 'default' ? mode : cascade;
        if (plan.markStale.includes(slug)) expect(wanted).toBe('lazy');
        if (plan.rerun.includes(slug)) expect(wanted).toBe('strict');
        if (plan.skipped.includes(slug)) expect(wanted).toBe('none');
        // A phase that has not begun will consume the new version; one without an artifact cannot be stale.
        if (status === 'pending') expect(touched).not.toContain(slug);
        if (status === 'failed' || status === 'skipped') expect(plan.markStale).not.toContain(slug);
        // Nothing that consumed a changed artifact and is done is forgotten: that of a phase which is to run, too.
        const isReached = dependsOn.some((each) => each === changed || plan.reached.includes(each));
        if (isReached && slug !== changed && status === 'pending') expect(plan.reached).toContain(slug);
        if (isReached && slug !== changed && isDone(status) && status !== 'skipped') expect(touched).toContain(slug);
        expect(!touched.includes(slug) || isReached).toBe(true);
      }
    }),
  );
});

// Guards: `strict` runs again everything downstream that has begun; `none` runs and marks nothing.
test('the two ends of the scale', () => {
  fc.assert(
    fc.property(cases, ({ phases, at }) => {
      const changed = itemAt(phases, at % phases.length).slug;
      const begun = phases.map((phase) =>
        phase.status === 'pending' ? { ...phase, status: 'stale' as const } : phase,
      );
      expect(new Set(planCascade(begun, changed, 'strict').rerun)).toEqual(downstreamOf(begun, changed));
      expect(planCascade(phases, changed, 'none').affected).toEqual([]);
    }),
  );
});
