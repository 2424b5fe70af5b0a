/** Tells which numbers of a workbook are dates: that is in their style alone. */
import { attribute, visitXml } from './xml.ts';

export interface CellStyles {
  /** @returns a number as it is, and a date as a date */
  shown(value: string, style: number): string;
}

/** Formats that every workbook has, of dates and times. */
const isUsualDate = (format: number): boolean => (format >= 14 && format <= 22) || (format >= 45 && format <= 47);

/** Other letters, in quotes, brackets or behind a backslash, are no part of a date. */
const saysDate = (code: string): boolean =>
  /[ymdhs]/i.test(code.slice(0, 500).replace(/"[^"]*"?|\[[^[\]]*\]?|\\./g, ''));

export function readStyles(bytes: Buffer | undefined, since1904: boolean): CellStyles {
  const dates = new Set<number>();
  const formats: number[] = [];
  let isCells = false;
  if (bytes) {
    visitXml(bytes, {
      open(name, attributes) {
        const format = Number(attribute(attributes, 'numFmtId') ?? 0);
        if (name === 'numFmt' && saysDate(attribute(attributes, 'formatCode') ?? '')) dates.add(format);
        else if (name === 'cellXfs') isCells = true;
        else if (name === 'xf' && isCells) formats.push(format);
      },
      close(name) {
        if (name === 'cellXfs') isCells = false;
      },
    });
  }
  return {
    shown(value, style) {
      const format = formats[style];
      const isDate = format !== undefined && (isUsualDate(format) || dates.has(format));
      return (isDate ? dateOf(Number(value), since1904) : undefined) ?? value;
    },
  };
}

const DAY_MS = 86_400_000;

/** @param days since the end of 1899, or since 1904 */
function dateOf(days: number, since1904: boolean): string | undefined {
  if (!Number.isFinite(days) || days < 0 || days > 2_958_466) return undefined;
  // A workbook takes 1900 for a leap year, so that days before its 29 February are one later.
  const start = since1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const text = new Date(start + Math.round(days * DAY_MS)).toISOString();
  if (days < 1) return text.slice(11, 19);
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.slice(0, 19).replace('T', ' ');
}
