/** Shows moments and durations. */
import { useNow } from './clock.ts';
import { duration, relative } from './figures.ts';
import { useSettings } from './settings.ts';

const FORMAT: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
};

const absolute = (at: string, isUtc: boolean): string =>
  `${new Date(at).toLocaleString('en-GB', { ...FORMAT, ...(isUtc && { timeZone: 'UTC' }) })}${isUtc ? ' UTC' : ''}`;

/** Shows `4 min ago`, and the moment itself on hover; with `isAbsolute` it is the other way round. */
export function Time({ at, isAbsolute = false, className }: { at: string; isAbsolute?: boolean; className?: string }) {
  const { isUtc } = useSettings();
  const moment = new Date(at).getTime();
  const now = useNow(Math.abs(Date.now() - moment) < 60_000 ? 1_000 : 30_000);
  const exact = absolute(at, isUtc);
  const since = relative(moment, Math.max(now, Math.min(moment, Date.now())));
  return (
    <time dateTime={at} title={isAbsolute ? since : exact} className={className}>
      {isAbsolute ? exact : since}
    </time>
  );
}

/** Shows how long something took, or has taken until now. */
export function Took({ from, to }: { from: string | null; to: string | null }) {
  return from === null ? <>–</> : to === null ? <Running from={from} /> : <>{duration(stretch(from, to))}</>;
}

const stretch = (from: string, to: string): number => new Date(to).getTime() - new Date(from).getTime();

function Running({ from }: { from: string }) {
  const now = useNow();
  return <>{duration(Math.max(0, Math.round((now - new Date(from).getTime()) / 1_000) * 1_000))}</>;
}
