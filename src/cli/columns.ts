/** Makes the columns of a table from a line such as `ID> id, NAME name, FOR about~60`. */
import { z } from 'zod';
import { fieldsOf } from '../platform/core/record.ts';
import type { Listing } from './listing.ts';
import { oneLine, paintStatus, shorten, shortTime, type Column } from './output.ts';
import { shapeOf, unwrapped } from './schemas.ts';

export interface Columns<Row> {
  /** Titles with fields: `ID> id, NAME name, MADE? made_at, FOR about~60`. `>` aligns right, `?` is of wide tables only. */
  columns: string;
  /** The texts of columns that are no fields. */
  cells?: Readonly<Record<string, Column<Row>['value']>>;
  paint?: Readonly<Record<string, NonNullable<Column<Row>['paint']>>>;
}

/** @param reply has the rows as its `data`; without it any field is taken */
export function columnsOf<Row>(
  reply: unknown,
  { columns, cells = {}, paint = {} }: Columns<Row>,
): Listing<Row>['columns'] {
  const rows = unwrapped(shapeOf(reply)['data']);
  const shape = rows instanceof z.ZodArray ? shapeOf(rows.unwrap()) : {};
  return columns.split(', ').map((text) => {
    const [, title = '', right, wide, field, length] = /^(.+?)(>?)(\??)(?: ([a-z_0-9]+))?(?:~(\d+))?$/.exec(text) ?? [];
    const value = cells[title];
    if (!value && (field === undefined || (reply !== undefined && !(field in shape))))
      throw new Error(`column ${text}: the reply has no such field`);
    const asPainted = paint[title] ?? (title === 'STATUS' ? paintedStatus : undefined);
    return {
      title,
      value: value ?? ((row: Row) => cellOf(fieldsOf(row)[field ?? ''], Number(length))),
      ...(right && { align: 'right' }),
      ...(wide && { isWide: true }),
      ...(asPainted && { paint: asPainted }),
    };
  });
}

const paintedStatus = (text: string): string => paintStatus(text.trimEnd(), text.length);

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

function cellOf(value: unknown, length: number): string | number | null {
  if (value === null || value === undefined || typeof value === 'number') return value ?? null;
  if (Array.isArray(value)) return value.join(',');
  const text = String(value);
  if (TIME.test(text)) return shortTime(text);
  return length > 0 ? shorten(oneLine(text), length) : text;
}
