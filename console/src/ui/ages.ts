/** How old what a list shows may be, in hours, as lists offer it. */
export const AGES = [
  ['', 'Any age'],
  ['1', 'Last hour'],
  ['24', 'Last day'],
  ['168', 'Last 7 days'],
  ['720', 'Last 30 days'],
] as const;
