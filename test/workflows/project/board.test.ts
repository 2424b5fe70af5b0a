/** What an operator reads of the gates that a project waits at. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { first, present } from '../../../src/platform/core/present.ts';
import { createBoard } from '../../../workflows/project/board.ts';
import type { PhaseInFlight } from '../../../workflows/project/messages.ts';

const DRAFT = { slug: 'draft', taskId: 'task', status: 'pending' as const, dependsOn: [], iteration: 0 };

function boardOf(inFlight: PhaseInFlight[] = []) {
  const board = createBoard([DRAFT], inFlight);
  const about = { slug: 'draft', iteration: 1 };
  return {
    ...board,
    opens: (gate: string) => board.note({ ...about, waitsFor: `gate ${gate}`, gate }),
    leaves: (gate: string) => board.note({ ...about, waitsFor: null, gate }),
    waitsFor: () =>
      [...board.render({ status: 'active', costUsd: '0' }).matchAll(/waits for gate (\w+)/g)].map(([, gate]) => gate),
    status: () => present(board.find('draft')).status,
  };
}
function underWay() {
  const board = boardOf();
  board.begin(first(board.ready()));
  return board;
}

// Guards: of two gates that wait at the same time both are shown, each until it is answered.
test('each gate is there for as long as it waits', () => {
  const board = underWay();
  board.opens('a');
  board.opens('b');
  expect([board.waitsFor(), board.status()]).toEqual([['a', 'b'], 'blocked']);
  board.answer('draft', 'a');
  expect([board.waitsFor(), board.status()]).toEqual([['b'], 'blocked']);
  board.leaves('b');
  expect([board.waitsFor(), board.status()]).toEqual([[], 'running']);
});

// Guards: an answer may arrive before the phase reports that its gate is open; the gate then does not stay on the board
// for ever.
test('one that was answered before it was heard of is not waited for, the next time it is', () => {
  const board = underWay();
  board.answer('draft', 'a');
  board.opens('a');
  expect([board.waitsFor(), board.status()]).toEqual([[], 'running']);
  board.opens('a');
  expect(board.waitsFor()).toEqual(['a']);
});

// Guards: a project that continues as new keeps its waiting gates, and an answer ends them as before.
test('it is carried over', () => {
  const before = underWay();
  before.opens('a');
  const after = boardOf(before.listInFlight());
  expect(after.waitsFor()).toEqual(['a']);
  after.answer('draft', 'a');
  expect([after.waitsFor(), after.status()]).toEqual([[], 'running']);
});

type Board = ReturnType<typeof createBoard>;
const PHASES = [DRAFT, { ...DRAFT, slug: 'post', taskId: 'other', dependsOn: [0] }];
const slugs = fc.constantFrom('draft', 'post');
const gates = fc.constantFrom('a', 'b');
const startOf = (board: Board, slug: string) => board.inFlight.get(slug) ?? 0;
/** Whatever a project's workflow does with its board. */
const moves: fc.Arbitrary<(board: Board) => unknown> = fc.oneof(
  fc.constant((board: Board) => board.ready().map((phase) => board.begin(phase))),
  fc.tuple(slugs, fc.constantFrom('succeeded' as const, 'failed' as const, 'superseded' as const)).map(
    ([slug, status]) =>
      (board: Board) =>
        board.end({ slug, iteration: startOf(board, slug), status }),
  ),
  fc.tuple(slugs, fc.constantFrom('pending' as const, 'stale' as const, 'skipped' as const)).map(
    ([slug, status]) =>
      (board: Board) =>
        board.apply([{ slug, status }]),
  ),
  fc.tuple(slugs, gates, fc.boolean()).map(([slug, gate, waits]) => (board: Board) => {
    const told = { slug, iteration: startOf(board, slug), gate };
    board.note({ ...told, waitsFor: waits ? `gate ${gate}` : null });
  }),
  fc.tuple(slugs, gates).map(
    ([slug, gate]) =>
      (board: Board) =>
        board.answer(slug, gate),
  ),
);

// Guards against: commands and answers that a project forgot when it continued as new. A board that is carried over, as
// JSON, before any move comes to what one comes to that never was.
test('a board that is carried over is the same board', () => {
  fc.assert(
    fc.property(fc.array(moves, { maxLength: 12 }), fc.array(moves, { maxLength: 8 }), (before, after) => {
      const kept = createBoard(PHASES, []);
      for (const move of before) move(kept);
      const { phases, inFlight } = JSON.parse(
        JSON.stringify({ phases: kept.phases, inFlight: kept.listInFlight() }),
      ) as { phases: typeof PHASES; inFlight: PhaseInFlight[] };
      const carried = createBoard(phases, inFlight);
      for (const move of after) [kept, carried].forEach(move);
      const seen = [kept, carried].map((board) => [
        board.phases,
        board.listInFlight(),
        board.render({ status: 'active', costUsd: '0' }),
      ]);
      expect(seen[1]).toEqual(seen[0]);
    }),
    { numRuns: 2_000 },
  );
});
