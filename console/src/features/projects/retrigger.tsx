/** Runs a phase again. It first says what will run after it, and what all of that cost the last time. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../../api/client.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { NoteField } from '../../ui/field.tsx';
import { money } from '../../ui/figures.ts';
import { notify } from '../../ui/notice.tsx';
import { costOf, downstreamOf } from './graph.ts';
import type { Phase, Project } from './types.ts';

const CASCADES = [
  ['lazy', 'Mark what comes after it as stale'],
  ['strict', 'Run what comes after it again too'],
  ['none', 'Leave what comes after it as it is'],
] as const;
type Cascade = (typeof CASCADES)[number][0];

interface RetriggerProps {
  project: Project;
  phases: readonly Phase[];
  phase: Phase;
  isOpen: boolean;
  onClose: () => void;
}

export function Retrigger({ project, phases, phase, isOpen, onClose }: RetriggerProps) {
  const client = useQueryClient();
  const [cascade, setCascade] = useState<Cascade>('lazy');
  const [addendum, setAddendum] = useState('');
  const after = downstreamOf(phases, phase.phase_slug).filter(({ status }) => status !== 'pending');
  const again = cascade === 'strict' ? [phase, ...after] : [phase];
  return (
    <Confirm
      title={`Run ${phase.title} again?`}
      action="Run it again"
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={async () => {
        const addendumBrief = addendum.trim();
        await post(`/v1/projects/${project.id}/phases/${phase.phase_slug}/retrigger`, {
          cascade,
          ...(addendumBrief && { addendum_brief: addendumBrief }),
        });
        await client.invalidateQueries({ queryKey: ['projects', 'one', project.id] });
        notify(`${phase.title} runs again`);
      }}
    >
      <fieldset className="space-y-1">
        <legend className="pb-1 font-medium">What comes after it</legend>
        {CASCADES.map(([value, label]) => (
          <label key={value} className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
            <input type="radio" name="cascade" checked={cascade === value} onChange={() => setCascade(value)} />
            {label}
          </label>
        ))}
      </fieldset>
      <NoteField
        label="What should be different"
        hint="Handed to its steps beside their instructions."
        value={addendum}
        onChange={setAddendum}
      />
      <p>
        Runs again: {again.map(({ title }) => title).join(', ')}. That has cost {money(costOf(again))} so far.
        {cascade === 'lazy' && after.length > 0 && ` Becomes stale: ${after.map(({ title }) => title).join(', ')}.`} The
        artifacts that there are stay as earlier versions.
      </p>
    </Confirm>
  );
}
