/** Shows what the keyboard can do. */
import { Dialog } from '../../ui/dialog.tsx';
import { useSettings } from '../../ui/settings.ts';
import { PLACES } from './places.ts';

const GENERAL: readonly [keys: string, what: string][] = [
  ['/', 'Search on this page, else everywhere'],
  ['Ctrl K', 'Search and commands'],
  ['j k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close the pane or dialog'],
  ['a', 'In the inbox: to the first answer; Enter gives it'],
  ['r', 'In the inbox: to the rejection'],
  ['c', 'In the inbox: to the comment'],
  ['?', 'This list'],
];

export function KeyHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { hasKeys } = useSettings();
  const all = [...GENERAL, ...PLACES.map(({ key, label }): [string, string] => [`g ${key}`, label])];
  return (
    <Dialog title="Keyboard" isOpen={isOpen} onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 p-4">
        {all.map(([keys, what]) => (
          <div key={keys} className="contents">
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key} className="mr-1 rounded border bg-raised px-1.5 py-0.5 font-mono text-xs">
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      {!hasKeys && <p className="px-4 pb-4 text-soft">Keys of one letter are switched off for this browser.</p>}
    </Dialog>
  );
}
