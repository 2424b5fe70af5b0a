/** Offers what can be done with the one thing that a pane shows. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ApiProblem } from '../api/problem.ts';
import { mayChange, useSession } from '../api/session.ts';
import { Button } from './button.tsx';
import { Confirm } from './confirm.tsx';
import { Refusal } from './empty.tsx';
import type { IconName } from './icon.tsx';
import { notify } from './notice.tsx';

interface Act {
  label: string;
  icon?: IconName;
  isHidden?: boolean;
  /** A question that is asked first, where the action costs money or cannot be undone. */
  asks?: { title: string; text: ReactNode };
  /** The notice that is shown when the action is done. */
  done: string;
  act: () => Promise<unknown>;
  /** Does it although something else uses the thing, which is asked apart. */
  insist?: () => Promise<unknown>;
}

export function Acts({ acts }: { acts: readonly Act[] }) {
  const client = useQueryClient();
  const isViewer = !mayChange(useSession());
  const [asked, setAsked] = useState<Act>();
  const doing = useMutation({
    mutationFn: ({ act }: Act) => act(),
    onSuccess: (_done, { done }) => notify(done),
    onSettled: () => void client.invalidateQueries({ queryKey: ['resources'] }),
  });
  /** What is in use is asked about again: the refusal says what uses it, and the button does it all the same. */
  const confirm = (act: Act) =>
    doing.mutateAsync(act).catch((error: unknown) => {
      const { insist, ...rest } = act;
      if (insist && error instanceof ApiProblem && error.code === 'in_use') {
        setAsked({ ...rest, label: `${act.label} all the same`, act: insist });
      }
      throw error;
    });
  // Who may not change anything sees no button, rather than a refusal.
  if (isViewer) return null;
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap gap-2">
        {acts
          .filter(({ isHidden }) => !isHidden)
          .map((each) => (
            <Button
              key={each.label}
              look={each.asks ? 'danger' : 'plain'}
              {...(each.icon && { icon: each.icon })}
              isBusy={doing.isPending && doing.variables.label === each.label}
              onClick={() => (each.asks ? setAsked(each) : doing.mutate(each))}
            >
              {each.label}
            </Button>
          ))}
      </div>
      {!asked && <Refusal error={doing.error} />}
      {asked?.asks && (
        <Confirm
          title={asked.asks.title}
          action={asked.label}
          isDangerous
          isOpen
          onClose={() => setAsked(undefined)}
          onConfirm={() => confirm(asked)}
        >
          <p>{asked.asks.text}</p>
        </Confirm>
      )}
    </div>
  );
}
