/** The few icons of the console, drawn on a grid of 16. None is alone: a word stands beside each, or is its label. */
import { cx } from './cx.ts';

const PATHS = {
  check: 'M3.5 8.5l3 3 6-7',
  cross: 'M4.5 4.5l7 7m0-7l-7 7',
  dot: 'M8 8h.01',
  clock: 'M8 4.5V8l2.3 1.4M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  spinner: 'M14 8a6 6 0 1 1-3.2-5.3',
  pause: 'M6 4.5v7m4-7v7',
  stop: 'M5 5h6v6H5z',
  hand: 'M8 5v3.2M8 11h.01M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  warning: 'M8 6v3m0 2.2h.01M8 2.4l6 10.8H2L8 2.4z',
  search: 'M7.2 12a4.8 4.8 0 1 0 0-9.6 4.8 4.8 0 0 0 0 9.6zm3.5-1.3L14 14',
  chat: 'M2.500 3h11v7.500H7l-3 2.500v-2.500H2.500z',
  inbox: 'M2.5 9.5h3l1 2h3l1-2h3M2.5 9.5v3.4h11V9.5m-11 0 2-6h7l2 6',
  runs: 'M2.5 4h6m-6 4h11m-11 4h8',
  projects: 'M2.5 3h4v3h-4zm7 0h4v3h-4zm-3.5 7h4v3h-4zM4.5 6v2h7V6M8 8v2',
  cost: 'M8 2v12m3-9.2C10.4 3.9 9.3 3.5 8 3.5c-1.7 0-3 .8-3 2.2 0 3 6.2 1.5 6.2 4.6 0 1.4-1.4 2.2-3.2 2.2-1.5 0-2.7-.5-3.3-1.5',
  webhook:
    'M5.5 11.500a2.3 2.3 0 1 1-1.8-2.700M8 5.500a2.3 2.3 0 1 1 2 2.200M12 9a2.3 2.3 0 1 1-1.8 3.900M8.5 6.500l-2.5 5h5M9 6l2 3',
  agent: 'M8 7.500a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.200zM3 13.700c.4-2.6 2.4-4 5-4s4.6 1.4 5 4',
  schedule: 'M3 4.500h10v9H3zM3 7.500h10M5.5 2.500v2m5-2v2',
  memory:
    'M8 3c3 0 5 .8 5 1.900S11 6.8 8 6.8 3 6 3 4.9 5 3 8 3zM3 5v6c0 1.1 2 1.9 5 1.900s5-.8 5-1.900V5M3 8c0 1.1 2 1.9 5 1.900s5-.8 5-1.9',
  settings: 'M3 4.500h6m3 0h1M3 11.500h1m3 0h6M9 3v3M4 10v3',
  health: 'M2 8.500h3l1.5-4 3 7 1.5-3h3',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  plus: 'M8 3.500v9M3.5 8h9',
  copy: 'M5.5 5.500v-3h8v8h-3m-8-5h8v8h-8z',
  external: 'M9 3h4v4m0-4L7.5 8.500M6.5 4H3v9h9V9.5',
  retry: 'M3 8a5 5 0 0 1 8.7-3.400L13 6m0-3v3h-3m3 2a5 5 0 0 1-8.7 3.400L3 10m0 3v-3h3',
  right: 'M6 3.500L10.5 8 6 12.5',
  download: 'M8 2.500v7.500m-3-3l3 3l3-3M3 13h10',
  down: 'M3.5 6L8 10.5 12.5 6',
  left: 'M10 3.500L5.5 8l4.5 4.5',
  sun: 'M8 10.800a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.600zM8 1.500v1.300m0 10.400v1.300M1.5 8h1.300m10.4 0h1.300M3.4 3.400l.9.9m7.4 7.400l.9.9m0-9.200l-.9.9m-7.4 7.400l-.9.9',
  moon: 'M13 9.500A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.500z',
  out: 'M6.5 3H3v10h3.500M7 8h6.500m-2.5-2.500L13.5 8 11 10.5',
  tool: 'M10 2.500a3.5 3.5 0 0 0-3.3 4.700l-4.2 4.2 2.1 2.1 4.2-4.200a3.5 3.5 0 0 0 4.5-4.400l-2 2-1.9-.5-.5-1.9 2-1.900a3.5 3.5 0 0 0-.9-.1z',
  model: 'M8 2l1.6 4.400L14 8l-4.4 1.600L8 14l-1.6-4.400L2 8l4.4-1.600z',
  file: 'M4 2.500h5l3 3v8H4zM9 2.500v3h3',
  keyboard: 'M2 4.500h12v7H2zM5 9.500h6M4.5 7h.01m2.3 0h.01m2.3 0h.01m2.3 0h.01',
} as const;
export type IconName = keyof typeof PATHS;

export function Icon({ name, className }: { name: IconName; className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={cx('size-4 shrink-0', name === 'spinner' && 'spin', className)}
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'dot' || name === 'more' ? 2.6 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
