/** Says what was written on a page of a PDF afterwards: in the fields of a form, as free text, and as comments. Pure. */
import { createCollector } from './model.ts';
import { fieldsOf } from '../core/record.ts';

type Fields = ReturnType<typeof fieldsOf>;

/** Of the flags: nobody sees it. */
const HIDDEN = 2 | 32;
/** A comment has its words; these are links and windows of comments. */
const SILENT = new Set(['Link', 'Popup', 'Widget']);

/** @returns a line for each; fields are named only where something is in one of them or was written beside */
export function notesOf(annotations: readonly unknown[]): string {
  const seen = annotations.map(fieldsOf).filter(({ annotationFlags }) => !(Number(annotationFlags) & HIDDEN));
  const fields = formOf(seen);
  const comments = seen.flatMap(commentOf);
  const isFilled = [...fields.values()].some(({ isSet }) => isSet);
  if (!isFilled && comments.length === 0) return '';
  const out = createCollector();
  for (const [name, { value, isSet }] of fields) out.add(`[form field ${name}] ${isSet ? value : `(${value})`}\n`);
  for (const comment of comments) out.add(`${comment}\n`);
  return out.all().trim();
}

interface Field {
  value: string;
  isSet: boolean;
}

/** Fields by name; the buttons of a group are one field. */
function formOf(annotations: readonly Fields[]): Map<string, Field> {
  const fields = new Map<string, Field>();
  for (const annotation of annotations) {
    const { subtype, fieldType, pushButton, fieldName, alternativeText } = annotation;
    if (subtype !== 'Widget' || pushButton === true || fieldType === 'Sig') continue;
    const name = wordsOf(fieldName);
    const title = wordsOf(alternativeText);
    const key = `"${name}"${title && title !== name ? ` (${title})` : ''}`;
    const field = fieldOf(annotation);
    if (!fields.get(key)?.isSet) fields.set(key, field);
  }
  return fields;
}

function fieldOf({ fieldType, fieldValue, exportValue, checkBox, password, options }: Fields): Field {
  if (checkBox === true) {
    if (fieldValue !== exportValue) return { value: 'not checked', isSet: false };
    return {
      value: ['On', 'Yes', '1'].includes(wordsOf(exportValue)) ? 'checked' : `checked: ${wordsOf(exportValue)}`,
      isSet: true,
    };
  }
  const values = (Array.isArray(fieldValue) ? fieldValue : [fieldValue]).map((value) => shownOf(value, options));
  const value = values.filter((each) => each !== '' && !(fieldType === 'Btn' && each === 'Off')).join(', ');
  if (value === '') return { value: fieldType === 'Btn' ? 'none chosen' : 'empty', isSet: false };
  return { value: password === true ? 'a password' : value, isSet: true };
}

/** A choice is kept by what it is called inside, which may be a number. */
function shownOf(value: unknown, options: unknown): string {
  const all = Array.isArray(options) ? options.map(fieldsOf) : [];
  const chosen = all.find(({ exportValue }) => exportValue === value);
  return wordsOf(chosen?.['displayValue'] ?? value);
}

function commentOf(annotation: Fields): string[] {
  const { subtype, contentsObj, titleObj, textContent, overlaidText, inReplyTo, stateModel } = annotation;
  // A state, such as "accepted", has words that programs make.
  if (SILENT.has(wordsOf(subtype)) || stateModel) return [];
  const shown = Array.isArray(textContent) ? textContent.map(wordsOf).join('\n') : '';
  const text = wordsOf(fieldsOf(contentsObj)['str']) || wordsOf(shown);
  if (!text) return [];
  const who = wordsOf(fieldsOf(titleObj)['str']);
  const by = who && ` by ${who}`;
  if (subtype === 'FreeText') return [`[text written on the page${by}] ${text}`];
  const what = inReplyTo ? 'answer to a comment' : 'comment';
  const on = wordsOf(overlaidText);
  return [`[${what}${by}${on && ` on "${on}"`}] ${text}`];
}

const wordsOf = (value: unknown): string => (typeof value === 'string' ? value.replaceAll(/[\0\s]+/g, ' ').trim() : '');
