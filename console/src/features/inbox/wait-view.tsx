/** Shows one wait: everything that is needed to decide, beside the answers. */
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { WaitDetail } from '../../api/types.ts';
import { Content } from '../../ui/content.tsx';
import { ForWriters } from '../../ui/for-writers.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';
import { Answers } from './answer.tsx';
import { Others } from './others.tsx';
import { PolicyView } from './policy.tsx';
import { Subject } from './subject.tsx';
import { answerWords, KIND_WORDS, wayWords } from './words.ts';

interface WaitViewProps {
  wait: WaitDetail;
  hasKeys?: boolean;
  /** The wait is shown on the page of its own project, which is then not named. */
  isInPlace?: boolean;
  onAnswered?: (wait: WaitDetail) => void;
}

export function WaitView({ wait, hasKeys = false, isInPlace = false, onAnswered }: WaitViewProps) {
  const { icon, one } = KIND_WORDS[wait.kind];
  return (
    <article aria-label={wait.status === 'open' ? `${one} waits for an answer` : one} className="space-y-4">
      <header className="space-y-2">
        <h2 className="sr-only">{wait.title}</h2>
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-soft">
          <span className="flex items-center gap-1.5 font-medium text-warn">
            <Icon name={icon} /> {one}
          </span>
          {!isInPlace && wait.project_id && (
            <Link
              to="/projects/$projectId"
              params={{ projectId: wait.project_id }}
              search={wait.phase_slug ? { phase: wait.phase_slug } : {}}
              className="inline-flex min-h-6 items-center text-accent underline"
            >
              {wait.project_title ?? wait.project_id}
            </Link>
          )}
          {wait.phase_slug && <span>{wait.phase_slug}</span>}
          {wait.run_id && (
            <Link
              to="/runs/$runId"
              params={{ runId: wait.run_id }}
              className="inline-flex min-h-6 items-center text-accent underline"
            >
              run of {wait.agent ?? 'an agent'}
            </Link>
          )}
          <span>
            since <Time at={wait.opened_at} />
          </span>
          {wait.due_at && (
            <span className={wait.overdue ? 'font-medium text-bad' : undefined}>
              {wait.overdue ? 'overdue since' : 'due'} <Time at={wait.due_at} />
            </span>
          )}
          {wait.expires_at && wait.status === 'open' && (
            <span>
              takes answers until <Time at={wait.expires_at} />
            </span>
          )}
          {wait.revision > 1 && <span className="tabular">revision {wait.revision}</span>}
        </p>
        <div className="text-lg">
          <Content content={wait.prompt ?? promptOf(wait)} />
        </div>
        {wait.on_timeout && <p className="text-sm text-soft">When nobody answers in time: {wait.on_timeout}</p>}
        <PolicyView {...wait} />
        {wait.awaits && <p className="text-sm text-soft">Awaits another system: {wait.awaits}</p>}
      </header>
      {wait.status === 'settled' && <Settled wait={wait} />}
      <div className="grid items-start gap-4 @3xl:grid-cols-[minmax(0,1fr)_19rem]">
        <Subject wait={wait} />
        <div className="space-y-4 @3xl:sticky @3xl:top-4">
          <ForWriters instead={<p className="text-sm text-soft">You look on: others answer this.</p>}>
            <Answers key={wait.id} wait={wait} hasKeys={hasKeys} {...(onAnswered && { onAnswered })} />
          </ForWriters>
          <Others wait={wait} />
        </div>
      </div>
    </article>
  );
}

const promptOf = ({ kind, title, pause_reason: reason }: WaitDetail): string =>
  kind === 'paused' && reason ? `The project paused itself: ${reason.replaceAll('_', ' ')}.` : title;

function Settled({ wait }: { wait: WaitDetail }) {
  const box = useRef<HTMLDivElement>(null);
  // On a phone the answers stand below what they are about: whoever gave one would not see what became of it.
  useEffect(() => {
    box.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <div ref={box} role="status" className="card scroll-mt-4 space-y-1 border-strong p-3">
      <p className="flex items-center gap-1.5">
        <Icon name="check" className="text-good" />
        {wait.answer && wait.settled_by ? (
          <span>
            {wait.settled_by} {answerWords(wait.answer).done} {wayWords(wait.settled_via)}{' '}
            {wait.settled_at && <Time at={wait.settled_at} className="text-soft" />}
          </span>
        ) : (
          <span>It waits no more: what it was about has moved on, or its time is over.</span>
        )}
      </p>
      {wait.comment && <p className="border-l-2 pl-2 break-words whitespace-pre-wrap">{wait.comment}</p>}
    </div>
  );
}
