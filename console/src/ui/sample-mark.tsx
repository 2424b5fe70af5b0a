/** Marks what comes from a recorded sample, so that nobody takes it for the work of a model. */
import { Icon } from './icon.tsx';

const NOTE = 'Sample content, recorded. No model was called.';

/** A word beside a title or in a row. */
export const SampleMark = () => (
  <span title={NOTE} className="shrink-0 rounded border px-1 text-xs font-normal text-warn">
    Sample
  </span>
);

/** The whole sentence, as the first line of a page or a part of it. */
export const SampleNote = () => (
  <p role="note" className="flex items-center gap-2 border-b bg-raised px-4 py-1.5 text-sm text-warn">
    <Icon name="model" />
    {NOTE}
  </p>
);
