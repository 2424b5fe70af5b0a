/** Lists waits, a row each: the question, its place, since when it waits, and when it is due. */
import { Link } from '@tanstack/react-router';
import type { Wait } from '../../api/types.ts';
import { cx } from '../../ui/cx.ts';
import { Icon } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';
import type { InboxFilters } from './view.ts';
import { answerWords, KIND_WORDS, placeOf } from './words.ts';

interface WaitListProps {
  waits: readonly Wait[];
  filters: InboxFilters;
  selected: string | undefined;
  /** The list stands beside the detail, so each row takes two lines at any width. */
  isNarrow: boolean;
}

export function WaitList({ waits, filters, selected, isNarrow }: WaitListProps) {
  return (
    <ul aria-label="Waits">
      {waits.map((wait) => (
        <li key={wait.id}>
          <Link
            to="/inbox/$waitId"
            params={{ waitId: wait.id }}
            search={filters}
            data-row={wait.id}
            aria-current={wait.id === selected ? 'true' : undefined}
            className={cx(
              'grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 border-b px-4 py-2 text-sm -outline-offset-2 hover:bg-raised',
              !isNarrow && 'md:grid-cols-[8rem_minmax(0,1fr)_minmax(0,14rem)_9rem] md:py-1.5',
              wait.id === selected && 'bg-raised shadow-[inset_3px_0_0_var(--color-accent)]',
            )}
          >
            <span className={cx('flex items-center gap-1.5 text-warn', !isNarrow && 'md:text-sm', 'text-xs')}>
              <Icon name={KIND_WORDS[wait.kind].icon} />
              {KIND_WORDS[wait.kind].one}
            </span>
            <span
              className={cx(
                'col-span-2 row-start-2 line-clamp-2 font-medium',
                !isNarrow && 'md:col-span-1 md:row-auto md:line-clamp-1',
              )}
            >
              {wait.title}
            </span>
            <span className={cx('col-span-2 truncate text-xs text-soft', !isNarrow && 'md:col-span-1 md:text-sm')}>
              {placeOf(wait)}
            </span>
            <span
              className={cx(
                'tabular col-start-2 row-start-1 text-right text-xs text-soft',
                !isNarrow && 'md:col-auto md:row-auto md:text-sm',
              )}
            >
              <Moment wait={wait} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Moment({ wait }: { wait: Wait }) {
  if (wait.status === 'settled') {
    return (
      <>
        {wait.answer ? `${answerWords(wait.answer).done} ` : 'closed '}
        <Time at={wait.settled_at ?? wait.opened_at} />
      </>
    );
  }
  if (wait.overdue) return <span className="font-medium text-bad">overdue</span>;
  const until = wait.due_at ?? wait.expires_at;
  if (until) {
    return (
      <>
        due <Time at={until} />
      </>
    );
  }
  return <Time at={wait.opened_at} />;
}
