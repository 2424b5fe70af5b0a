/** Shows in the navigation how many waits are open. */
import { useQuery } from '@tanstack/react-query';
import { plural } from '../../ui/figures.ts';
import { useInboxLive, waitCountsQuery } from './queries.ts';

export function InboxBadge() {
  useInboxLive();
  const { data } = useQuery(waitCountsQuery);
  if (!data || data.open === 0) return null;
  return (
    <span
      title={`${plural(data.open, 'thing')} for somebody to answer`}
      className="tabular min-w-5 rounded-full bg-warn px-1.5 text-center text-xs leading-5 font-semibold text-ground"
    >
      {data.open > 99 ? '99+' : data.open}
      <span className="sr-only"> open</span>
    </span>
  );
}
