/** Shows a status as an icon and a word, in the colour of its kind. Colour alone never tells it. */
import { cx } from './cx.ts';
import { Icon, type IconName } from './icon.tsx';

type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'quiet';
const TONES: Record<Tone, string> = {
  good: 'text-good',
  bad: 'text-bad',
  warn: 'text-warn',
  busy: 'text-busy',
  quiet: 'text-quiet',
};

interface Look {
  tone: Tone;
  icon: IconName;
  word: string;
}

/** The looks of the statuses of all resources. A word has the same look everywhere. */
const LOOKS: Record<string, Look> = {
  queued: { tone: 'quiet', icon: 'clock', word: 'Queued' },
  pending: { tone: 'quiet', icon: 'clock', word: 'Pending' },
  running: { tone: 'busy', icon: 'spinner', word: 'Running' },
  active: { tone: 'busy', icon: 'spinner', word: 'Active' },
  in_progress: { tone: 'busy', icon: 'spinner', word: 'Running' },
  blocked: { tone: 'warn', icon: 'hand', word: 'Waiting' },
  paused: { tone: 'warn', icon: 'pause', word: 'Paused' },
  stale: { tone: 'warn', icon: 'warning', word: 'Stale' },
  succeeded: { tone: 'good', icon: 'check', word: 'Succeeded' },
  completed: { tone: 'good', icon: 'check', word: 'Completed' },
  retrying: { tone: 'warn', icon: 'retry', word: 'Retrying' },
  delivered: { tone: 'good', icon: 'check', word: 'Delivered' },
  connected: { tone: 'good', icon: 'check', word: 'Connected' },
  healthy: { tone: 'good', icon: 'check', word: 'Healthy' },
  ok: { tone: 'good', icon: 'check', word: 'OK' },
  ready: { tone: 'good', icon: 'check', word: 'Ready' },
  failing: { tone: 'bad', icon: 'warning', word: 'Failing' },
  exhausted: { tone: 'bad', icon: 'cross', word: 'Given up' },
  invalid: { tone: 'bad', icon: 'cross', word: 'Invalid' },
  expired: { tone: 'bad', icon: 'cross', word: 'Expired' },
  rate_limited: { tone: 'warn', icon: 'warning', word: 'Rate limited' },
  unchecked: { tone: 'quiet', icon: 'clock', word: 'Not checked yet' },
  unconfigured: { tone: 'quiet', icon: 'dot', word: 'Not set' },
  as_applied: { tone: 'good', icon: 'check', word: 'As applied' },
  unreadable: { tone: 'warn', icon: 'warning', word: 'Not recalled' },
  changed: { tone: 'warn', icon: 'warning', word: 'Changed by hand' },
  gone: { tone: 'warn', icon: 'warning', word: 'Deleted by hand' },
  disabled: { tone: 'quiet', icon: 'stop', word: 'Off' },
  dropped: { tone: 'quiet', icon: 'stop', word: 'Dropped' },
  failed: { tone: 'bad', icon: 'cross', word: 'Failed' },
  dead: { tone: 'bad', icon: 'cross', word: 'Given up' },
  crashed: { tone: 'bad', icon: 'cross', word: 'Crashed' },
  down: { tone: 'bad', icon: 'cross', word: 'Down' },
  degraded: { tone: 'warn', icon: 'warning', word: 'Degraded' },
  cancelled: { tone: 'quiet', icon: 'stop', word: 'Cancelled' },
  abandoned: { tone: 'quiet', icon: 'stop', word: 'Abandoned' },
  removed: { tone: 'quiet', icon: 'stop', word: 'Removed' },
  skipped: { tone: 'quiet', icon: 'stop', word: 'Skipped' },
};

const sentence = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1).replaceAll('_', ' ');
export const statusWord = (status: string): string => LOOKS[status]?.word ?? sentence(status);

interface StatusProps {
  status: string;
  isIconOnly?: boolean;
  /** The status is only named, and nothing has it now. */
  isStill?: boolean;
  className?: string;
}

export function Status({ status, isIconOnly = false, isStill = false, className }: StatusProps) {
  const { tone, icon } = LOOKS[status] ?? { tone: 'quiet', icon: 'dot' };
  const word = statusWord(status);
  return (
    <span className={cx('inline-flex items-center gap-1.5 align-middle whitespace-nowrap', TONES[tone], className)}>
      <Icon name={isStill && icon === 'spinner' ? 'dot' : icon} />
      <span className={isIconOnly ? 'sr-only' : undefined}>{word}</span>
    </span>
  );
}
