/** A form for what a workflow asks to be given: its JSON schema, as far as people fill it in by hand. */
import { Field } from '../../ui/field.tsx';
import type { ParamSchema } from './types.ts';

/** As written; empty: not given. */
export type Written = Readonly<Record<string, string>>;

const sentence = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');

/** What is written, as values of the schema. A text that is no number is left to the service to refuse. */
export function valuesOf(schema: ParamSchema, written: Written): Record<string, unknown> {
  const given = Object.entries(written).filter(([, text]) => text.trim() !== '');
  return Object.fromEntries(given.map(([name, text]) => [name, valueOf(schema.properties?.[name] ?? {}, text)]));
}

function valueOf({ type, items }: ParamSchema, text: string): unknown {
  if (type === 'integer' || type === 'number') return Number.isNaN(Number(text)) ? text : Number(text);
  if (type === 'boolean') return text === 'true';
  if (type === 'array' && (items?.type ?? 'string') === 'string')
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
  if (type === 'string' || type === undefined) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

interface ParamsProps {
  schema: ParamSchema;
  written: Written;
  onChange: (written: Written) => void;
}

export function Params({ schema, written, onChange }: ParamsProps) {
  const required = new Set(schema.required);
  const names = Object.keys(schema.properties ?? {}).sort((a, b) => Number(required.has(b)) - Number(required.has(a)));
  return names.map((name) => {
    const param = schema.properties![name]!;
    const isRequired = required.has(name);
    const description = param.description?.replace(/[.]?$/, '.');
    const hint = [description, param.type === 'array' && 'One a line.'].filter(Boolean).join(' ');
    const change = (text: string) => onChange({ ...written, [name]: text });
    return (
      <Field key={name} label={sentence(name)} hint={hint} isRequired={isRequired}>
        {(props) => (
          <Control {...props} param={param} isRequired={isRequired} value={written[name] ?? ''} onChange={change} />
        )}
      </Field>
    );
  });
}

interface ControlProps {
  id: string;
  'aria-describedby': string | undefined;
  param: ParamSchema;
  isRequired: boolean;
  value: string;
  onChange: (text: string) => void;
}

function Control({ param, isRequired, value, onChange, ...props }: ControlProps) {
  const common = { ...props, required: isRequired, className: 'field w-full', value };
  const options = param.enum?.map(String) ?? (param.type === 'boolean' ? ['true', 'false'] : undefined);
  if (options) {
    return (
      <select {...common} onChange={({ target }) => onChange(target.value)}>
        <option value="">{isRequired ? 'Choose' : 'Default'}</option>
        {options.map((option) => (
          <option key={option}>{option}</option>
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
  if (param.type === 'string' && (param.maxLength ?? 0) <= 300) {
    return <input {...common} maxLength={param.maxLength} onChange={({ target }) => onChange(target.value)} />;
  }
  return (
    <textarea {...common} rows={3} className="field w-full py-1.5" onChange={({ target }) => onChange(target.value)} />
  );
}
