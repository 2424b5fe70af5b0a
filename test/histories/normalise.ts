/** Takes the machine it was recorded on out of a history. A replay reads none of it. */
const RECORDER = 'recorder';

export function normalise(value: unknown, key = ''): unknown {
  if (key === 'identity') return RECORDER;
  // Paths of the machine.
  if (key === 'stackTrace') return '';
  if (Array.isArray(value)) return value.map((item) => normalise(item));
  if (value === null || typeof value !== 'object') return value;
  const { kind, name } = value as { kind?: unknown; name?: unknown };
  // A worker's own queue is named after its process.
  if (kind === 'TASK_QUEUE_KIND_STICKY' && typeof name === 'string') return { ...value, name: `${RECORDER}-sticky` };
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, normalise(child, name)]));
}
