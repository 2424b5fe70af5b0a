/** Shows what stands where there is nothing, or nothing yet. */
import type { ReactNode } from 'react';
import { ApiProblem } from '../api/problem.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

interface EmptyProps {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  /** What fills it from a terminal. It stands below the action, which most people want. */
  commands?: ReactNode;
}

export function Empty({ title, children, action, commands }: EmptyProps) {
  return (
    <div className="mx-auto flex w-full max-w-2xl flex-col items-center gap-3 px-4 py-14 text-center">
      <h2 className="text-lg font-semibold">{title}</h2>
      {children && <div className="w-full text-soft">{children}</div>}
      {action}
      {commands && <div className="w-full min-w-0 space-y-2 pt-3">{commands}</div>}
    </div>
  );
}

const titleOf = (error: unknown): string => {
  if (!(error instanceof ApiProblem)) return 'This page has a fault';
  if (error.status === 0) return 'The service cannot be reached';
  if (error.status === 404) return 'Not found';
  return error.status === 403 ? 'Not allowed' : 'That did not work';
};

/** Says in words what went wrong, and what can be done about it. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div role="alert" className="card mx-auto my-8 flex max-w-xl flex-col items-start gap-3 p-4">
      <h2 className="flex items-center gap-2 font-semibold text-bad">
        <Icon name="warning" /> {titleOf(error)}
      </h2>
      <p className="break-words">{error instanceof Error ? error.message : String(error)}</p>
      {onRetry && (
        <Button icon="retry" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** Says the same beside a button or in a form. */
export function Refusal({ error }: { error: unknown }) {
  if (!error) return null;
  return (
    <p role="alert" className="flex items-start gap-1.5 text-bad">
      <Icon name="warning" className="mt-0.5" />
      <span className="min-w-0 break-words">{error instanceof Error ? error.message : String(error)}</span>
    </p>
  );
}

export function Skeleton({ rows = 8 }: { rows?: number }) {
  return (
    <div aria-hidden="true" className="flex flex-col gap-2 p-4">
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} className="skeleton h-6" style={{ width: `${90 - ((i * 17) % 45)}%` }} />
      ))}
    </div>
  );
}
