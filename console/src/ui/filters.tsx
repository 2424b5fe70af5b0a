/** Offers ways to narrow a list, of which one is on. Each shows how many rows it has. */
import { cx } from './cx.ts';
import { Icon, type IconName } from './icon.tsx';

interface Filter {
  key: string;
  label: string;
  icon?: IconName;
  count?: number | undefined;
  isOn: boolean;
  onPick: () => void;
}

export function Filters({ label, filters }: { label: string; filters: readonly Filter[] }) {
  return (
    <div role="group" aria-label={label} className="flex gap-0.5 overflow-x-auto border-b bg-surface px-3 py-2 text-sm">
      {filters.map(({ key, label: word, icon, count, isOn, onPick }) => (
        <button
          key={key}
          type="button"
          aria-pressed={isOn}
          onClick={onPick}
          className={cx(
            'flex min-h-7 items-center gap-1.5 rounded-md border px-2 whitespace-nowrap pointer-coarse:min-h-11',
            isOn ? 'border-strong bg-raised' : 'border-transparent hover:bg-raised',
            count === 0 && !isOn && 'text-soft',
          )}
        >
          {icon && <Icon name={icon} />}
          {word}
          {count !== undefined && <span className="tabular text-soft">{count}</span>}
        </button>
      ))}
    </div>
  );
}
