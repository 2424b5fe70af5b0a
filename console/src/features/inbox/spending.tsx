/** Says what was told of spending and is still so. Nothing of it waits for an answer. */
import { Link } from '@tanstack/react-router';
import type { SpendingNotice } from '../../api/types.ts';
import { Icon } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';

export function Spending({ notices }: { notices: readonly SpendingNotice[] }) {
  if (notices.length === 0) return null;
  return (
    <ul aria-label="Spending" className="border-b text-sm">
      {notices.map((notice) => (
        <li key={`${notice.topic} ${notice.cap_id}`} className="flex min-h-9 flex-wrap items-center gap-x-2 px-4">
          <Icon name="cost" className="text-warn" />
          {notice.cap_id === null ? (
            <Link to="/costs" search={{ window: '24h' }} className="inline-flex min-h-6 items-center underline">
              {notice.title}
            </Link>
          ) : (
            <Link
              to="/costs"
              search={{ tab: 'caps', id: notice.cap_id }}
              className="inline-flex min-h-6 items-center underline"
            >
              {notice.title}
            </Link>
          )}
          <Time at={notice.at} className="text-soft" />
        </li>
      ))}
    </ul>
  );
}
