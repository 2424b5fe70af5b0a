/** Shows a JSON value or a text as somebody else's data, which is never run. */
import { CopyButton } from './copy.tsx';
import { Folded } from './folded.tsx';

export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');

export function Value({ value, label }: { value: unknown; label: string }) {
  const text = asText(value);
  return (
    <div className="relative rounded-md border bg-raised p-2 pr-9">
      <Folded text={text} isCode />
      <span className="absolute top-0.5 right-0.5">
        <CopyButton text={text} label={`Copy ${label}`} />
      </span>
    </div>
  );
}
