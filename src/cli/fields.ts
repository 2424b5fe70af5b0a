/** Shows people what has fields of its own, in lines or in one. Programs get JSON. */
import { isRecord } from '../platform/core/record.ts';
import { oneLine } from './output.ts';

/** @returns the value on one line, for example `slug=greet, tags=[a, b], limits=(month=3, day=1)` of an object */
export const fieldsInLine = (value: unknown): string =>
  isRecord(value)
    ? Object.entries(value)
        .map(([name, one]) => `${oneLine(name)}=${inLine(one)}`)
        .join(', ')
    : inLine(value);

function inLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inLine).join(', ')}]`;
  if (isRecord(value)) return `(${fieldsInLine(value)})`;
  return oneLine(String(value ?? 'none'));
}

/** @returns the value as lines: a field with its text, and below it, indented, what has several lines or fields */
export function fieldLines(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => fieldLines(one).map((line, i) => (i ? '  ' : '- ') + line));
  if (!isRecord(value)) return String(value ?? 'none').split('\n');
  return Object.entries(value).flatMap(([name, one]) => {
    const lines = fieldLines(one);
    const isText = !isRecord(one) && !Array.isArray(one) && lines.length === 1;
    return isText ? [`${name}: ${lines.join()}`] : [`${name}:`, ...lines.map((line) => `  ${line}`)];
  });
}

/** @returns the beginning of a JSON text, which may be cut anywhere, in a readable form */
export function previewInLine(text: string): string {
  if (!/^\s*[{[]/.test(text)) return oneLine(text);
  try {
    return fieldsInLine(JSON.parse(text));
  } catch {
    return oneLine(withoutJsonSigns(text));
  }
}

/** @returns a part of a JSON text without what only programs need */
export const withoutJsonSigns = (text: string): string =>
  text
    .replaceAll(/"\s*:\s*/g, '=')
    .replaceAll(/[{}"]/g, '')
    .replaceAll(/,(?=\S)/g, ', ');

type Schema = Readonly<Record<string, unknown>>;

/** @returns the type of a JSON Schema in a few words, for example `string`, `a | b`, `(name: string, age?: integer)[]` */
export function typeOf(schema: unknown): string {
  if (!isRecord(schema)) return 'any';
  const { type, enum: values, const: only, items, properties, anyOf, oneOf } = schema;
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return choices.map(typeOf).join(' | ');
  if (Array.isArray(values)) return values.map(String).join(' | ');
  if (only !== undefined) return String(only);
  if (type === 'array') return items === undefined ? 'array' : `${typeOf(items)}[]`;
  if (isRecord(properties))
    return `(${argumentsOf(schema)
      .map(({ name, type: of, isRequired }) => `${name}${isRequired ? '' : '?'}: ${of}`)
      .join(', ')})`;
  return Array.isArray(type) ? type.join(' | ') : String(type ?? 'any');
}

/** @returns the properties of an object's JSON Schema */
export function argumentsOf({ properties, required }: Schema) {
  const names = Array.isArray(required) ? required.map(String) : [];
  return Object.entries(isRecord(properties) ? properties : {}).map(([name, schema]) => ({
    name,
    type: typeOf(schema),
    isRequired: names.includes(name),
    description: isRecord(schema) && typeof schema.description === 'string' ? oneLine(schema.description) : null,
  }));
}
