/**
 * Reads workbooks, sheet by sheet, as lines of cells. What a formula came to is what counts; none is worked out, no link is
 * followed and no macro is looked at.
 */
import { damagedDocument, type Archive } from './archive.ts';
import { createCollector, DocumentError, limitedText, MAX_PAGES, type OpenDocument } from './model.ts';
import { mainPartOf, relationsOf } from './office.ts';
import { commentsOf, headerText, peopleOf } from './xlsx-notes.ts';
import { readStyles, type CellStyles } from './xlsx-styles.ts';
import { attribute, visitXml } from './xml.ts';

interface Sheet {
  title: string;
  part: string;
  isHidden: boolean;
}

/** @throws DocumentError */
export async function readXlsx(archive: Archive): Promise<OpenDocument> {
  const name = await mainPartOf(archive, 'xl/workbook.xml');
  const bytes = await archive.read(name);
  if (!bytes) throw damagedDocument('there is no xl/workbook.xml');
  const relations = await relationsOf(archive, name);
  const sheets: Sheet[] = [];
  let since1904 = false;
  visitXml(bytes, {
    open(element, attributes) {
      if (element === 'workbookPr') since1904 = /^(1|true)$/.test(attribute(attributes, 'date1904') ?? '');
      if (element !== 'sheet') return;
      const part = relations.get(attribute(attributes, 'id') ?? '');
      const isHidden = /hidden/i.test(attribute(attributes, 'state') ?? '');
      if (part !== undefined) sheets.push({ title: attribute(attributes, 'name') ?? '', part, isHidden });
    },
  });
  if (sheets.length === 0) throw new DocumentError('no_text', 'it has no sheets');
  if (sheets.length > MAX_PAGES) throw new DocumentError('too_large', `it has more than ${MAX_PAGES} sheets`);
  const partBeside = (type: string, usual: string) =>
    [...relations.values()].find((part) => part.toLowerCase().endsWith(type)) ?? usual;
  const [shared, styles] = [
    await archive.read(partBeside('/sharedstrings.xml', 'xl/sharedStrings.xml')),
    await archive.read(partBeside('/styles.xml', 'xl/styles.xml')),
  ];
  const strings = shared ? stringsOf(shared) : [];
  const styled = readStyles(styles, since1904);
  const people = await peopleOf(archive, name);
  return {
    unit: 'sheet',
    count: sheets.length,
    async text(number) {
      const sheet = sheets[number - 1];
      const cells = sheet ? await archive.read(sheet.part) : undefined;
      if (!sheet || !cells) return '';
      const title = `Sheet "${sheet.title}"${sheet.isHidden ? ' (hidden)' : ''}`;
      const { rows, headers, footers } = sheetText(cells, strings, styled);
      const comments = await commentsOf(archive, sheet.part, people);
      return limitedText([title, ...headers, rows, ...footers, ...comments].filter(Boolean).join('\n').trim());
    },
  };
}

/** @returns the texts that cells refer to by number */
function stringsOf(bytes: Buffer): string[] {
  const strings: string[] = [];
  let isText = false;
  let phonetic = 0;
  visitXml(bytes, {
    open(name) {
      if (name === 'si') strings.push('');
      else if (name === 't') isText = true;
      else if (name === 'rPh') phonetic += 1;
    },
    close(name) {
      if (name === 't') isText = false;
      else if (name === 'rPh') phonetic -= 1;
    },
    text(text) {
      if (isText && phonetic === 0 && strings.length > 0) strings[strings.length - 1] += text;
    },
  });
  return strings;
}

interface Cell {
  column: number;
  type: string;
  style: number;
  value: string;
  formula: string;
}

/** Cells so far apart are named by their column instead of being parted by tabs. */
const WIDE = 30;

interface SheetText {
  /** A line for each row that has something: its number, and its cells from the first column, parted by tabs. */
  rows: string;
  headers: Set<string>;
  footers: Set<string>;
}

function sheetText(bytes: Buffer, strings: readonly string[], styles: CellStyles): SheetText {
  const out = createCollector();
  let row = 0;
  let cells: Cell[] = [];
  let cell: Cell | undefined;
  let into: 'value' | 'formula' | undefined;
  const [headers, footers] = [new Set<string>(), new Set<string>()];
  let around: string | undefined;
  visitXml(bytes, {
    open(name, attributes) {
      if (name === 'row') {
        row = Number(attribute(attributes, 'r') ?? row + 1);
        cells = [];
      } else if (name === 'c') {
        const column = columnOf(attribute(attributes, 'r') ?? '') ?? (cells.at(-1)?.column ?? 0) + 1;
        const style = Number(attribute(attributes, 's') ?? 0);
        cell = { column, type: attribute(attributes, 't') ?? 'n', style, value: '', formula: '' };
      } else if (name === 'v' || name === 't') into = 'value';
      else if (name === 'f') into = 'formula';
      else if (AROUND.test(name)) around = '';
    },
    close(name) {
      if (name === 'v' || name === 't' || name === 'f') into = undefined;
      else if (name === 'c') {
        if (cell) cells.push(cell);
        cell = undefined;
      } else if (name === 'row') {
        const line = lineOf(cells, strings, styles);
        if (line) out.add(`${row}\t${line}\n`);
      } else if (around !== undefined) {
        const text = headerText(around);
        around = undefined;
        if (text && name.endsWith('Header')) headers.add(`[header] ${text}`);
        else if (text) footers.add(`[footer] ${text}`);
      }
    },
    text(text) {
      if (cell && into) cell[into] += text;
      else if (around !== undefined) around += text;
    },
  });
  return { rows: out.all().trimEnd(), headers, footers };
}

/** What is printed above and below the cells, also of the first page or every other one. */
const AROUND = /^(?:odd|even|first)(?:Header|Footer)$/;

function lineOf(cells: readonly Cell[], strings: readonly string[], styles: CellStyles): string {
  let line = '';
  let at = 1;
  for (const cell of cells) {
    const text = shown(cell, strings, styles).replace(/[\t\r\n]+/g, ' ');
    if (text === '') continue;
    const gap = cell.column - at;
    if (gap >= 0 && gap <= WIDE) line += '\t'.repeat(gap) + text;
    else line += `\t${nameOf(cell.column)}: ${text}`;
    at = cell.column;
  }
  return line;
}

function shown({ type, style, value, formula }: Cell, strings: readonly string[], styles: CellStyles): string {
  if (value === '') return formula && `=${formula}`;
  if (type === 's') return strings[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  return type === 'n' ? styles.shown(value, style) : value;
}

/** @returns the number of the column of a cell, such as 28 of `AB7` */
function columnOf(reference: string): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0];
  return letters === undefined
    ? undefined
    : [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

function nameOf(column: number): string {
  let name = '';
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  }
  return name;
}
