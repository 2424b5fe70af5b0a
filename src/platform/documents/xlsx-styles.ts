/** Shows numbers of a workbook as their style says, which alone tells dates, durations, percent and money apart. */
import { format } from 'numfmt';
import { attribute, visitXml } from './xml.ts';

export interface CellStyles {
  /** @returns a date as a date, and a number as the workbook shows it, with the number itself where that tells less */
  shown(value: string, style: number): string;
}

/** Formats that every workbook has, by number, without those of dates. */
const USUAL: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  37: '#,##0;(#,##0)',
  38: '#,##0;(#,##0)',
  39: '#,##0.00;(#,##0.00)',
  40: '#,##0.00;(#,##0.00)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
};
/** Of these numbers each country has its own dates. */
const isUsualDate = (id: number): boolean =>
  (id >= 14 && id <= 17) || id === 22 || (id >= 27 && id <= 36) || (id >= 50 && id <= 58);
const DATE = 'yyyy-mm-dd hh:mm';
/** No program writes a longer one. */
const MAX_CODE = 500;

export function readStyles(bytes: Buffer | undefined, since1904: boolean): CellStyles {
  const codes = new Map<number, string>();
  const formats: number[] = [];
  let isCells = false;
  if (bytes) {
    visitXml(bytes, {
      open(name, attributes) {
        const id = Number(attribute(attributes, 'numFmtId') ?? 0);
        if (name === 'numFmt') codes.set(id, attribute(attributes, 'formatCode') ?? '');
        else if (name === 'cellXfs') isCells = true;
        else if (name === 'xf' && isCells) formats.push(id);
      },
      close(name) {
        if (name === 'cellXfs') isCells = false;
      },
    });
  }
  const shows = new Map<number, Show>();
  return {
    shown(value, style) {
      const id = formats[style] ?? 0;
      const number = Number(value);
      if (!Number.isFinite(number) || value.trim() === '') return value;
      const show = shows.get(id) ?? showOf(codes.get(id) ?? (isUsualDate(id) ? DATE : (USUAL[id] ?? '')), since1904);
      shows.set(id, show);
      return show(number) ?? value;
    },
  };
}

/** @returns undefined where the number is shown as it is */
type Show = (value: number) => string | undefined;

function showOf(code: string, since1904: boolean): Show {
  if (code === '' || code.length > MAX_CODE || /^(?:general|standard|@)$/i.test(code)) return () => undefined;
  const letters = code.replace(QUOTED, '');
  if (/\[(?:h+|m+|s+)\]/i.test(letters)) return (value) => durationOf(value, code);
  const date = letters.replaceAll(/\[[^[\]]*\]?/g, '');
  if (!/[ymdhs]/i.test(date)) return (value) => numberOf(value, code);
  const isTime = !/[yd]|mmm/i.test(date) && /[hs]/i.test(date);
  return (value) => dateOf(value, { since1904, isTime });
}

/** Letters in quotes, behind a backslash, or that only leave room are no part of a date. */
const QUOTED = /"[^"]*"?|[\\_*]./g;

/** Of negative ones the library counts wrong. */
function durationOf(days: number, code: string): string | undefined {
  const [section = code] = code.split(';');
  const shown = shownIn(section, Math.abs(days));
  return shown && days < 0 ? `-${shown}` : shown;
}

function numberOf(value: number, code: string): string | undefined {
  // Of money in the way of a country only its sign counts; commas and points are those of the others.
  const shown = shownIn(code.replaceAll(/\[\$([^[\]-]*)(?:-[^[\]]*)?\]/g, '"$1"'), value);
  if (!shown) return undefined;
  // What a workbook works with has 15 digits.
  const exact = String(Number(value.toPrecision(15)));
  const isExact = [exact, String(value)].some((each) => digitsOf(each) === digitsOf(shown));
  const isWhole = isExact && (value >= 0 || /[-(−]/.test(shown));
  return isWhole ? shown : `${shown} (${exact})`;
}

const shownIn = (code: string, value: number): string | undefined => {
  const shown = format(code, value, { throws: false, invalid: '' }).trim();
  return /^#*$/.test(shown) ? undefined : shown;
};

/** Those that count: not where the point is, and no zeros around. */
function digitsOf(text: string): string {
  const digits = text.replaceAll(/\D/g, '').replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

const DAY_MS = 86_400_000;

/** @param days since the end of 1899, or since 1904 */
function dateOf(days: number, { since1904, isTime }: { since1904: boolean; isTime: boolean }): string | undefined {
  if (days < 0 || days > 2_958_466) return undefined;
  // A workbook takes 1900 for a leap year, so that days before its 29 February are one later.
  const start = since1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const text = new Date(start + Math.round(days * DAY_MS)).toISOString();
  if (days < 1) return text.slice(11, 19);
  // Hours that were added up in a format without days: no such day was meant.
  if (isTime && days < 366) return `${text.slice(11, 19)} (${shownIn('[h]:mm:ss', days) ?? ''} in all)`;
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.slice(0, 19).replace('T', ' ');
}
