/** Formats figures as people read them. Pure. */

const SIGNIFICANT = 3;

/**
 * Formats an amount: `0.00021345` gives `$0.000213`, an amount above a cent has cents, and thousands get a comma. It is
 * exact below 15 digits.
 */
export function money(usd: string | number): string {
  const value = Number(usd);
  if (value === 0) return '$0';
  const sign = value < 0 ? '-' : '';
  const size = Math.abs(value);
  if (size >= 0.1) {
    return `${sign}$${size.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  }
  const digits = Math.min(10, SIGNIFICANT - 1 - Math.floor(Math.log10(size)));
  let text = size.toFixed(digits);
  while (text.endsWith('0')) text = text.slice(0, -1);
  return `${sign}$${text}`;
}

export const count = (n: number): string => n.toLocaleString('en-US');
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

/** Formats milliseconds as `840 ms`, `3.2 s`, `4 min 05 s`, `2 h 10 min` or `3 d 4 h`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const two = (n: number) => String(n).padStart(2, '0');
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  return `${Math.floor(minutes / 1_440)} d ${Math.floor((minutes % 1_440) / 60)} h`;
}

/** Formats the time since a moment, or until it. */
export function relative(at: number, now: number): string {
  const ms = now - at;
  const ago = (text: string) => (ms < 0 ? `in ${text}` : `${text} ago`);
  const size = Math.abs(ms);
  if (size < 10_000) return ms < 0 ? 'in a moment' : 'just now';
  if (size < 60_000) return ago(`${Math.floor(size / 1_000)} s`);
  if (size < 3_600_000) return ago(`${Math.floor(size / 60_000)} min`);
  if (size < 86_400_000) return ago(`${Math.floor(size / 3_600_000)} h`);
  return ago(`${Math.floor(size / 86_400_000)} d`);
}

export const bytes = (n: number): string =>
  n < 1_000
    ? `${n} B`
    : n < 1_000_000
      ? `${(n / 1_000).toFixed(n < 10_000 ? 1 : 0)} kB`
      : `${(n / 1_000_000).toFixed(1)} MB`;

/** @returns the end of an id, by which people tell ids apart */
export const shortId = (id: string): string => (id.length > 12 ? `…${id.slice(-8)}` : id);
