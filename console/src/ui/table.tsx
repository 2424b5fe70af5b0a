/** Shows rows of a resource: a table in a wide window, cards on a phone. A row that opens is one link. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { cx } from './cx.ts';

export interface Column<T> {
  name: string;
  cell: (row: T) => ReactNode;
  isRight?: boolean;
}

interface TableProps<T> {
  label: string;
  rows: readonly T[];
  /** The first column names the row. */
  columns: readonly Column<T>[];
  idOf: (row: T) => string;
  /** The id of the row whose pane is open at this address. */
  selected?: string | undefined;
  opens?: (row: T) => Record<string, unknown>;
}

export function Table<T>({ label, rows, columns, idOf, selected, opens }: TableProps<T>) {
  return (
    <table className="w-full text-sm max-sm:block">
      <caption className="sr-only">{label}</caption>
      <thead className="max-sm:sr-only">
        <tr className="border-b text-left text-xs text-soft">
          {columns.map(({ name, isRight }) => (
            <th key={name} scope="col" className={cx('px-4 py-1.5 font-normal', isRight && 'text-right')}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="max-sm:block">
        {rows.map((row) => {
          const id = idOf(row);
          return (
            <tr
              key={id}
              className={cx(
                'relative border-b max-sm:block max-sm:py-1.5',
                opens && 'hover:bg-raised',
                id === selected && 'bg-raised shadow-[inset_3px_0_0_var(--color-accent)]',
              )}
            >
              {columns.map(({ name, cell, isRight }, i) => (
                <td
                  key={name}
                  className={cx(
                    'px-4 py-1.5 break-words max-sm:flex max-sm:justify-between max-sm:gap-4 max-sm:py-0.5',
                    isRight && 'tabular sm:text-right sm:whitespace-nowrap',
                    i === 0 && 'sm:min-w-36',
                    i === 0 ? 'font-medium' : 'max-sm:before:text-soft max-sm:before:content-[attr(data-name)]',
                  )}
                  data-name={name}
                >
                  {i === 0 && opens ? (
                    <Link
                      to="."
                      search={opens(row) as never}
                      data-row={id}
                      aria-current={id === selected ? 'true' : undefined}
                      className="inline-flex min-h-6 min-w-0 items-center [overflow-wrap:anywhere] before:absolute before:inset-0"
                    >
                      {cell(row)}
                    </Link>
                  ) : (
                    cell(row)
                  )}
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
