/** One of several values by which a list is narrowed. */
import { useId } from 'react';
import { cx } from './cx.ts';

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, label: string])[];
  onChange: (value: string) => void;
}

export function Choice({ label, value, options, onChange }: ChoiceProps) {
  const id = useId();
  // A value from an old link is shown although it is no longer one of the options.
  const all = options.some(([known]) => known === value) ? options : [...options, [value, value] as const];
  return (
    <span>
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <select
        id={id}
        className={cx(
          'field w-full pr-6 sm:w-auto sm:max-w-44',
          value !== '' && 'border-accent font-medium text-accent',
        )}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      >
        {all.map(([known, word]) => (
          <option key={known} value={known}>
            {word}
          </option>
        ))}
      </select>
    </span>
  );
}
