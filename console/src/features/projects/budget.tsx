/** Changes the budget of a project, where what it has spent is shown. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { patch, post } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { UsdField } from '../../ui/field.tsx';
import { money } from '../../ui/figures.ts';
import { notify } from '../../ui/notice.tsx';
import { EstimateView } from './estimate.tsx';
import type { Project } from './types.ts';

export function Budget({ project }: { project: Project }) {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [budget, setBudget] = useState(project.cost_budget_usd ?? '');
  const [goesOn, setGoesOn] = useState(true);
  const isStopped = project.status === 'paused';
  const path = `/v1/projects/${project.id}`;
  return (
    <>
      <Button look="ghost" onClick={() => setOpen(true)}>
        {project.cost_budget_usd === null ? 'Set a budget' : 'Change the budget'}
      </Button>
      <Confirm
        title="The budget of this project"
        action={isStopped && goesOn ? 'Change it and go on' : 'Change it'}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={async () => {
          await patch(path, { cost_budget_usd: budget.trim() || null });
          if (isStopped && goesOn) await post(`${path}/resume`);
          await Promise.all([
            client.invalidateQueries({ queryKey: ['projects'] }),
            client.invalidateQueries({ queryKey: ['inbox'] }),
          ]);
          notify(budget.trim() ? `Its budget is ${money(budget.trim())} now` : 'It has no budget any more');
        }}
      >
        <UsdField
          label="Budget, US dollars"
          hint={`For all of it, with the ${money(project.cost_total_usd)} that are spent. Empty: no limit.`}
          value={budget}
          onChange={setBudget}
        />
        {isStopped && (
          <label className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
            <input type="checkbox" checked={goesOn} onChange={({ target }) => setGoesOn(target.checked)} />
            Go on at once
          </label>
        )}
        {isOpen && <EstimateView projectId={project.id} thought={{ of: 'resume' }} />}
      </Confirm>
    </>
  );
}
