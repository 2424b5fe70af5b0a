/** Every gate of a project that waits, above everything else: it is why people come. */
import { useQueries } from '@tanstack/react-query';
import { Gate } from './gate.tsx';
import { attemptsQuery, stepsQuery } from './queries.ts';
import type { Attempt, Phase, Project, Step } from './types.ts';

export function Gates({ project, phases }: { project: Project; phases: readonly Phase[] }) {
  const blocked = phases.filter(({ status }) => status === 'blocked');
  const steps = useQueries({ queries: blocked.map(({ id }) => stepsQuery(project.id, id)) });
  const waiting = blocked.flatMap((phase, i) => {
    const all = steps[i]?.data?.data ?? [];
    return all
      .filter((step) => step.kind === 'gate' && step.status === 'blocked')
      .map((step) => ({ phase, step, all }));
  });
  if (waiting.length === 0) return null;
  return (
    <div className="space-y-4 border-b p-4">
      {waiting.map(({ phase, step, all }) => (
        <GateWithWork key={step.id} project={project} phase={phase} step={step} all={all} />
      ))}
    </div>
  );
}

interface GateWithWorkProps {
  project: Project;
  phase: Phase;
  step: Step;
  all: readonly Step[];
}

function GateWithWork({ project, phase, step, all }: GateWithWorkProps) {
  const done = all.filter(({ status, kind }) => status === 'succeeded' && kind !== 'gate');
  const attempts = useQueries({ queries: done.map(({ id }) => attemptsQuery(project.id, id)) });
  const work = done.flatMap((each, i) => {
    const last = attempts[i]?.data?.data.findLast(({ status }: Attempt) => status === 'succeeded');
    return last ? [{ step: each, attempt: last }] : [];
  });
  return <Gate project={project} phase={phase} step={step} work={work} />;
}
