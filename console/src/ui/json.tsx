/** Shows a JSON value or a text as somebody else's data, which is never run. */
import { CopyButton, SaveButton } from './copy.tsx';
import { cx } from './cx.ts';
import { Folded } from './folded.tsx';

export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');

interface ValueProps {
  value: unknown;
  label: string;
  /** Offers to save it under this name. */
  filename?: string;
}

export function Value({ value, label, filename }: ValueProps) {
  const text = asText(value);
  return (
    <div className={cx('relative rounded-md border bg-raised p-2', filename === undefined ? 'pr-9' : 'pr-17')}>
      <Folded text={text} isCode />
      <span className="absolute top-0.5 right-0.5">
        {filename !== undefined && <SaveButton text={text} filename={filename} label={`Save ${label} as a file`} />}
        <CopyButton text={text} label={`Copy ${label}`} />
      </span>
    </div>
  );
}
