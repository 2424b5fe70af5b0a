/** Shows the detail at the right of a list, at an address of its own. On a phone it stands in the place of the list. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { IconButton } from './button.tsx';

interface PaneProps {
  title: string;
  /** The search parameters of the address without the pane. */
  closes: Record<string, unknown>;
  children: ReactNode;
}

export function Pane({ title, closes, children }: PaneProps) {
  const navigate = useNavigate();
  const pane = useRef<HTMLElement>(null);
  const close = () => void navigate({ to: '.', search: closes as never });
  useEffect(() => void pane.current?.focus(), []);
  return (
    <section
      ref={pane}
      tabIndex={-1}
      aria-label={title}
      onKeyDown={({ key, target }) =>
        key === 'Escape' && !(target as HTMLElement).closest('dialog, [popover]') && close()
      }
      className="flex min-h-0 min-w-0 flex-1 flex-col border-l bg-ground outline-none lg:max-w-[44rem] lg:basis-1/2"
    >
      <header className="flex items-center justify-between border-b bg-surface py-1 pr-2 pl-4">
        <h2 className="min-w-0 truncate font-semibold">{title}</h2>
        <IconButton icon="cross" label="Close" onClick={close} />
      </header>
      <div className="min-h-0 flex-1 space-y-4 overflow-y-auto p-4" data-scroll>
        {children}
      </div>
    </section>
  );
}
