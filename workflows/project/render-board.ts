/** How a project looks in the Temporal Web UI, which shows about a dozen lines and has the title beside them. */
import type { BoardPhase, ProjectStatus, TaskStatus } from '../../src/resources/projects/model.ts';
import type { createPhaseWaits } from './phase-waits.ts';

const MARKS: Record<TaskStatus, string> = {
  pending: '·',
  running: '→',
  blocked: '■',
  review: '○',
  succeeded: '✓',
  failed: '✗',
  skipped: '–',
  stale: '~',
};

interface BoardView {
  status: ProjectStatus;
  costUsd: string;
  phases: readonly BoardPhase[];
  inFlight: ReadonlyMap<string, number>;
  /** Phases that a command has changed, such as an abandonment: nobody waits for them. */
  overtaken: ReadonlyMap<string, TaskStatus>;
  waits: Pick<ReturnType<typeof createPhaseWaits>, 'has' | 'list'>;
}

/** @returns Markdown: a line for each phase, and what is waited for after them */
export function renderBoard({ status, costUsd, phases, inFlight, overtaken, waits }: BoardView): string {
  const waiting = waits
    .list()
    .filter(([slug]) => !overtaken.has(slug))
    .flatMap(([slug, reasons]) => [...reasons.values()].map((what) => `- \`${slug}\` waits for ${what}`));
  const atWork = [...inFlight].flatMap(([slug, iteration]) =>
    waits.has(slug) || overtaken.has(slug) ? [] : [`\`${slug}/${iteration}\``],
  );
  if (atWork.length > 0) waiting.push(`- at work, as their own details say: ${atWork.join(', ')}`);
  return [
    `| **${status}** | $${Number(costUsd).toFixed(4)} | start |`,
    '| --- | --- | --- |',
    ...phases.map(({ slug, status: told, iteration }) => {
      const status = overtaken.get(slug) ?? told;
      return `| ${MARKS[status]} ${slug} | ${status} | ${iteration || ''} |`;
    }),
    ...(waiting.length > 0 ? ['', ...waiting] : []),
  ].join('\n');
}
