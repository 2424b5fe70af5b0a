/**
 * Shows fields for a JSON schema, as far as people fill one in by hand: the parameters of a workflow, and the bodies of
 * the service's requests. The values are kept as texts, under names with dots where one object is in another.
 */
import { Field } from './field.tsx';

export interface JsonSchema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  items?: JsonSchema;
  default?: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
}

/** A text of up to so many characters is written in a field of one line. */
const LINE = 300;

/** The texts as they were written. An empty one counts as not given. */
export type Written = Readonly<Record<string, string>>;

const sentence = (name: string): string => {
  const last = name.slice(name.lastIndexOf('.') + 1);
  const words = last.charAt(0).toUpperCase() + last.slice(1).replaceAll('_', ' ');
  return words.replace(/\b(url|id)\b/gi, (short) => short.toUpperCase());
};

/** @returns the schema without the null that it also allows */
function plain(schema: JsonSchema): JsonSchema & { isNullable: boolean } {
  const one = schema.anyOf?.find(({ type }) => type !== 'null');
  const isNullable =
    schema.anyOf?.some(({ type }) => type === 'null') ?? (Array.isArray(schema.type) && schema.type.includes('null'));
  const type = Array.isArray(schema.type) ? schema.type.find((each) => each !== 'null') : schema.type;
  return { ...one, ...schema, ...((one?.type ?? type) && { type: one?.type ?? type! }), isNullable };
}

interface Leaf {
  name: string;
  schema: JsonSchema & { isNullable: boolean };
  isRequired: boolean;
}

/** @returns the fields in the schema, required ones first, without those whose value is constant */
function leavesOf(schema: JsonSchema, before = ''): Leaf[] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {})
    .flatMap(([name, each]): Leaf[] => {
      const one = plain(each);
      if (one.const !== undefined) return [];
      if (one.properties) return leavesOf(one, `${before}${name}.`);
      return [{ name: before + name, schema: one, isRequired: required.has(name) }];
    })
    .sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

/**
 * @returns the written texts as values of the schema. A text that should be a number and is none is sent as it is, for
 * the service to refuse.
 */
export function valuesOf(schema: JsonSchema, written: Written, before?: Written): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const leaf of leavesOf(schema)) {
    const text = written[leaf.name] ?? '';
    if (before ? text === (before[leaf.name] ?? '') : text.trim() === '') continue;
    const path = leaf.name.split('.');
    const last = path.pop()!;
    let into = values;
    for (const part of path) into = (into[part] ??= {}) as Record<string, unknown>;
    into[last] = text.trim() === '' && leaf.schema.isNullable ? null : valueOf(leaf.schema, text);
  }
  return values;
}

/** Whether each element is written on a line of its own. */
const isOfLines = (items: JsonSchema | undefined): boolean =>
  ['string', 'integer', 'number'].includes(String(items?.type ?? 'string'));

function valueOf({ type, items }: JsonSchema, text: string): unknown {
  if (type === 'integer' || type === 'number') return Number.isNaN(Number(text)) ? text : Number(text);
  if (type === 'boolean') return text === 'true';
  if (type === 'array' && isOfLines(items)) {
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
      .map((line) => valueOf(items ?? {}, line));
  }
  if (type === 'string' || type === undefined) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** @returns existing values as the texts with which they would be written */
export function writtenOf(schema: JsonSchema, values: Readonly<Record<string, unknown>>): Written {
  const texts = leavesOf(schema).map(({ name }): [string, string] => {
    const value = name
      .split('.')
      .reduce<unknown>((from, part) => (from as Record<string, unknown> | null | undefined)?.[part], values);
    if (value === null || value === undefined) return [name, ''];
    if (Array.isArray(value) && value.every((each) => ['string', 'number'].includes(typeof each))) {
      return [name, value.join('\n')];
    }
    return [name, typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value as string)];
  });
  return Object.fromEntries(texts);
}

interface SchemaFieldsProps {
  schema: JsonSchema;
  written: Written;
  onChange: (written: Written) => void;
  /** The choices of fields whose schema does not list them. */
  choices?: Readonly<Record<string, readonly string[]>>;
  /** The names of fields that are not shown. */
  without?: readonly string[];
}

export function SchemaFields({ schema, written, onChange, choices = {}, without = [] }: SchemaFieldsProps) {
  return leavesOf(schema)
    .filter(({ name }) => !without.includes(name))
    .map(({ name, schema: one, isRequired }) => {
      const description = one.description?.replace(/[.]?$/, '.');
      const isLines = one.type === 'array' && isOfLines(one.items);
      const isJson = one.type === 'object' || (one.type === 'array' && !isLines);
      const hint = [description, isLines && 'One a line.', isJson && 'As JSON.'].filter(Boolean).join(' ');
      return (
        <Field key={name} label={sentence(name)} hint={hint} isRequired={isRequired}>
          {(props) => (
            <Control
              {...props}
              param={choices[name] ? { ...one, enum: [...choices[name]] } : one}
              isRequired={isRequired}
              isLine={(one.maxLength ?? 0) <= LINE || /(^|[._])url$/.test(name)}
              value={written[name] ?? ''}
              onChange={(text) => onChange({ ...written, [name]: text })}
            />
          )}
        </Field>
      );
    });
}

interface ControlProps {
  id: string;
  'aria-describedby': string | undefined;
  param: JsonSchema;
  isRequired: boolean;
  isLine: boolean;
  value: string;
  onChange: (text: string) => void;
}

function Control({ param, isRequired, isLine, value, onChange, ...props }: ControlProps) {
  const common = { ...props, required: isRequired, className: 'field w-full', value };
  const options = param.enum?.map(String) ?? (param.type === 'boolean' ? ['true', 'false'] : undefined);
  if (options) {
    return (
      <select {...common} onChange={({ target }) => onChange(target.value)}>
        <option value="">
          {isRequired ? 'Choose' : typeof param.default === 'string' ? `Default: ${param.default}` : 'Default'}
        </option>
        {[...new Set([...options, ...(value ? [value] : [])])].map((option) => (
          <option key={option} value={option}>
            {param.type === 'boolean' ? (option === 'true' ? 'Yes' : 'No') : option}
          </option>
        ))}
      </select>
    );
  }
  if (param.type === 'integer' || param.type === 'number') {
    return (
      <input
        {...common}
        type="number"
        min={param.minimum}
        max={param.maximum}
        step={param.type === 'integer' ? 1 : 'any'}
        onChange={({ target }) => onChange(target.value)}
      />
    );
  }
  if (param.type === 'string' && isLine) {
    return <input {...common} maxLength={param.maxLength} onChange={({ target }) => onChange(target.value)} />;
  }
  return (
    <textarea
      {...common}
      rows={(param.maxLength ?? 0) > 10_000 ? 8 : 3}
      className="field w-full py-1.5"
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
