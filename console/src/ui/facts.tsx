/** Shows the names and values of one thing. */
import type { ReactNode } from 'react';

export function Facts({
  facts,
}: {
  facts: readonly (readonly [name: string, value: ReactNode] | false | '' | null | undefined)[];
}) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact[0]} className="contents">
              <dt className="text-soft">{fact[0]}</dt>
              <dd className="min-w-0 break-words">{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
