/** Offers the recorded sample of each workflow as a card with a picture of what it makes. */
import { cx } from '../../ui/cx.ts';
import type { WorkflowSample } from './queries.ts';

/** Written by `npm run samples:pictures`. */
const PICTURES = import.meta.glob<string>('./cards/*.webp', { eager: true, query: '?url', import: 'default' });
const pictureOf = (workflow: string) => PICTURES[`./cards/${workflow}.webp`];

interface GalleryProps {
  samples: readonly WorkflowSample[];
  chosen: string;
  onChoose: (sample: WorkflowSample) => void;
}

export const Gallery = ({ samples, chosen, onChoose }: GalleryProps) => (
  <ul aria-label="Samples" className="grid grid-cols-2 gap-3 sm:grid-cols-3">
    {samples.map((sample) => (
      <li key={sample.workflow}>
        <button
          type="button"
          aria-pressed={sample.workflow === chosen}
          onClick={() => onChoose(sample)}
          className={cx(
            'card flex h-full w-full flex-col overflow-hidden text-left hover:border-strong',
            sample.workflow === chosen && 'border-accent',
          )}
        >
          <img
            src={pictureOf(sample.workflow)}
            alt=""
            width={640}
            height={400}
            loading="lazy"
            className="aspect-[8/5] w-full border-b object-cover object-top"
          />
          <span className="p-2">
            <span className="line-clamp-2 text-sm font-medium">{sample.title}</span>
            <span className="line-clamp-3 text-xs text-soft">{sample.summary}</span>
          </span>
        </button>
      </li>
    ))}
  </ul>
);
