/** Shows one span of a timeline with everything that its events carry. */
import { Link } from '@tanstack/react-router';
import { IconButton } from '../../ui/button.tsx';
import { duration, money, shortId } from '../../ui/figures.ts';
import { Icon } from '../../ui/icon.tsx';
import { Value } from '../../ui/json.tsx';
import { Time } from '../../ui/time.tsx';
import { titleOf } from './event-words.ts';
import type { Span } from './spans.ts';

export function Inspector({ span, from, onClose }: { span: Span; from: number; onClose: () => void }) {
  return (
    <aside
      aria-label="Selected event"
      className="flex w-full shrink-0 flex-col overflow-y-auto border-l bg-surface md:w-96 xl:w-[32rem]"
    >
      <div className="sticky top-0 flex items-center gap-2 border-b bg-surface py-1 pr-1 pl-3">
        <Icon name={span.icon} className="text-soft" />
        <h2 className="min-w-0 flex-1 truncate font-medium">{span.title}</h2>
        <IconButton icon="cross" label="Close the pane" onClick={onClose} />
      </div>
      <div className="space-y-4 p-3">
        <dl className="tabular grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
          <dt className="text-soft">Began</dt>
          <dd>
            +{duration(span.start - from)}, <Time at={new Date(span.start).toISOString()} isAbsolute />
          </dd>
          <dt className="text-soft">Took</dt>
          <dd>{span.end === null ? 'goes on' : duration(span.end - span.start)}</dd>
          {span.costUsd !== null && (
            <>
              <dt className="text-soft">Cost</dt>
              <dd>{money(span.costUsd)}</dd>
            </>
          )}
          {span.childRunId && (
            <>
              <dt className="text-soft">Run</dt>
              <dd>
                <Link to="/runs/$runId" params={{ runId: span.childRunId }} className="text-accent underline">
                  {shortId(span.childRunId)}
                </Link>
              </dd>
            </>
          )}
        </dl>
        {span.events.map((event) => (
          <section key={event.id} aria-label={titleOf(event)} className="space-y-1">
            <h3 className="flex justify-between gap-2 text-sm text-soft">
              <span>{titleOf(event)}</span>
              <Time at={event.ts} />
            </h3>
            <Value value={event.payload} label="the event" />
          </section>
        ))}
      </div>
    </aside>
  );
}
