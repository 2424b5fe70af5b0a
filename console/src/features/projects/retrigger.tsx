/** Runs a phase again. It first says what will run, and about what that costs. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../../api/client.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { NoteField } from '../../ui/field.tsx';
import { notify } from '../../ui/notice.tsx';
import { CascadeField, type Cascade } from './cascade.tsx';
import { EstimateView } from './estimate.tsx';
import type { Phase, Project } from './types.ts';

interface RetriggerProps {
  project: Project;
  phase: Phase;
  isOpen: boolean;
  onClose: () => void;
}

export function Retrigger({ project, phase, isOpen, onClose }: RetriggerProps) {
  const client = useQueryClient();
  const [cascade, setCascade] = useState<Cascade>('lazy');
  const [addendum, setAddendum] = useState('');
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
      <CascadeField value={cascade} onChange={setCascade} />
      <NoteField
        label="What should be different"
        hint="Handed to its steps beside their instructions."
        value={addendum}
        onChange={setAddendum}
      />
      {isOpen && (
        <EstimateView projectId={project.id} thought={{ of: 'retrigger', phase_slug: phase.phase_slug, cascade }} />
      )}
      <p className="text-sm text-soft">The artifacts that there are stay as earlier versions.</p>
    </Confirm>
  );
}
