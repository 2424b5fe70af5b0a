/** Which phases decide how long a project takes, and what a phase is expected to cost. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  criticalPath,
  estimateCost,
  sumOf,
  type TimedPhase,
} from '../../../../src/resources/projects/outlook/model.ts';

const phase = (slug: string, startedMs: number | null, endedMs: number | null, ...dependsOn: string[]): TimedPhase => ({
  slug,
  dependsOn,
  startedMs,
  endedMs,
});

describe('criticalPath', () => {
  // Guards: of two branches the slower one is named, and the other one is told how much time it had left.
  test('goes through the slower of two branches', () => {
    const { path, phases } = criticalPath(
      [
        phase('research', 0, 10),
        phase('text', 10, 50, 'research'),
        phase('picture', 10, 20, 'research'),
        phase('page', 50, 60, 'text', 'picture'),
      ],
      100,
    );
    expect(path).toEqual(['research', 'text', 'page']);
    expect(phases.map(({ slackMs }) => slackMs)).toEqual([0, 0, 30, 0]);
    expect(phases.map(({ tookMs }) => tookMs)).toEqual([10, 40, 10, 10]);
  });

  // Guards: slack is shared along a branch: a phase far from the end of its branch cannot have more than what comes after it.
  test('gives a whole branch the time that it had left', () => {
    const { phases } = criticalPath(
      [
        phase('a', 0, 10),
        phase('slow', 10, 90, 'a'),
        phase('quick', 10, 20, 'a'),
        phase('after quick', 20, 30, 'quick'),
        phase('end', 90, 100, 'slow', 'after quick'),
      ],
      100,
    );
    expect(Object.fromEntries(phases.map(({ slug, slackMs }) => [slug, slackMs]))).toMatchObject({
      quick: 60,
      'after quick': 60,
    });
  });

  // Guards: a project under way: what runs ends now, and what has not begun is on no path.
  test('counts a phase under way up to now', () => {
    const { path, phases } = criticalPath(
      [phase('a', 0, 10), phase('b', 10, null, 'a'), phase('c', null, null, 'b')],
      70,
    );
    expect(path).toEqual(['a', 'b']);
    expect(phases.at(1)).toEqual({ slug: 'b', isCritical: true, tookMs: 60, slackMs: 0 });
    expect(phases.at(2)).toEqual({ slug: 'c', isCritical: false, tookMs: null, slackMs: null });
    expect(criticalPath([phase('a', null, null)], 70).path).toEqual([]);
  });

  // Guards: whatever the times (also those of a phase that ran again), the path is a chain of dependencies to what ended last.
  test('is a chain that ends with the last end', () => {
    const drawn = fc.array(
      fc.record({ start: fc.option(fc.nat(100)), took: fc.option(fc.nat(100)), upstream: fc.array(fc.nat(9)) }),
      { minLength: 1, maxLength: 10 },
    );
    fc.assert(
      fc.property(drawn, (rows) => {
        const phases = rows.map(({ start, took, upstream }, i) =>
          phase(
            `p${i}`,
            start,
            start === null || took === null ? null : start + took,
            ...new Set(upstream.filter((each) => each < i).map((each) => `p${each}`)),
          ),
        );
        const { path, phases: placed } = criticalPath(phases, 500);
        const bySlug = new Map(phases.map((each) => [each.slug, each]));
        path.forEach((slug, i) => {
          if (i > 0) expect(bySlug.get(slug)?.dependsOn).toContain(path[i - 1]);
        });
        const ends = phases.flatMap(({ startedMs, endedMs }) => (startedMs === null ? [] : [endedMs ?? 500]));
        const last = path.length > 0 ? (bySlug.get(path.at(-1) ?? '')?.endedMs ?? 500) : undefined;
        expect(last).toBe(ends.length > 0 ? Math.max(...ends) : undefined);
        for (const { slackMs, isCritical } of placed) {
          if (isCritical) expect(slackMs).toBe(0);
          expect(slackMs ?? 0).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});

describe('estimateCost', () => {
  // Guards: the nearest experience is used, and what nobody knows is unknown, not free.
  test.each([
    [
      'its own last run',
      { ownUsd: 0.2, earlierUsd: [0.1, 0.4], agentsUsd: [9] },
      { usd: '0.2', lowUsd: '0.1', highUsd: '0.4', basis: 'this_project', samples: 1 },
    ],
    [
      'earlier projects',
      { ownUsd: null, earlierUsd: [0.1, 0.3], agentsUsd: [9] },
      { usd: '0.2', lowUsd: '0.1', highUsd: '0.3', basis: 'earlier_projects', samples: 2 },
    ],
    [
      'its agents',
      { ownUsd: null, earlierUsd: [], agentsUsd: [0.5, null, 0.25] },
      { usd: '0.75', lowUsd: '0.75', highUsd: '0.75', basis: 'agents', samples: 2 },
    ],
    [
      'nothing',
      { ownUsd: null, earlierUsd: [], agentsUsd: [null] },
      { usd: null, lowUsd: null, highUsd: null, basis: 'nothing', samples: 0 },
    ],
  ])('rests on %s', (_basis, past, estimate) => expect(estimateCost(past)).toEqual(estimate));

  // Guards: a sum of which a part is unknown is the sum of the rest; of nothing known it is unknown.
  test('is added up', () => {
    expect(sumOf(['0.1', null, '0.2'])).toBe('0.3');
    expect(sumOf([null, null])).toBeNull();
    expect(sumOf([])).toBeNull();
  });
});
