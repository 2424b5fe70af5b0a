/** Shows the views of one thing. Arrow keys move between them, as in the ARIA pattern of tabs. */
import { useEffect, useRef, type KeyboardEvent, type ReactNode } from 'react';
import { cx } from './cx.ts';

interface TabsProps<T extends string> {
  label: string;
  tabs: readonly { value: T; label: string; count?: number | undefined }[];
  value: T;
  onChange: (value: T) => void;
}

export function Tabs<T extends string>({ label, tabs, value, onChange }: TabsProps<T>) {
  const list = useRef<HTMLDivElement>(null);
  // On a phone there is room for the first of many.
  useEffect(() => {
    list.current?.querySelector(`#tab-${value}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [value]);
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = tabs[(tabs.findIndex((tab) => tab.value === value) + by + tabs.length) % tabs.length]!;
    onChange(next.value);
    event.currentTarget.querySelector<HTMLElement>(`#tab-${next.value}`)?.focus();
  };
  return (
    <div
      ref={list}
      role="tablist"
      aria-label={label}
      onKeyDown={onKeyDown}
      className="flex shrink-0 gap-1 overflow-x-auto border-b bg-surface px-3"
    >
      {tabs.map((tab) => (
        <button
          key={tab.value}
          type="button"
          role="tab"
          id={`tab-${tab.value}`}
          aria-selected={tab.value === value}
          aria-controls="tab-panel"
          tabIndex={tab.value === value ? 0 : -1}
          onClick={() => onChange(tab.value)}
          className={cx(
            '-mb-px min-h-9 border-b-2 px-2 whitespace-nowrap -outline-offset-2 pointer-coarse:min-h-11',
            tab.value === value ? 'border-accent font-medium' : 'border-transparent text-soft hover:text-ink',
          )}
        >
          {tab.label}
          {tab.count !== undefined && <span className="tabular pl-1.5 text-soft">{tab.count}</span>}
        </button>
      ))}
    </div>
  );
}

export function TabPanel({ value, children }: { value: string; children: ReactNode }) {
  return (
    <div
      role="tabpanel"
      id="tab-panel"
      aria-labelledby={`tab-${value}`}
      tabIndex={0}
      className="flex min-h-0 flex-1 flex-col overflow-y-auto -outline-offset-2"
    >
      {children}
    </div>
  );
}
