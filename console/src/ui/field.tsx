/** A label, what is written under it, and the control between them. */
import { useId, type ReactNode } from 'react';

interface FieldProps {
  label: string;
  hint?: ReactNode;
  isRequired?: boolean;
  /** Given to the control. */
  children: (props: { id: string; 'aria-describedby': string | undefined }) => ReactNode;
}

export function Field({ label, hint, isRequired = false, children }: FieldProps) {
  const id = useId();
  const hintId = hint ? `${id}-hint` : undefined;
  return (
    <div className="space-y-1">
      <label htmlFor={id} className="block font-medium">
        {label}
        {isRequired && <span className="font-normal text-soft"> (required)</span>}
      </label>
      {children({ id, 'aria-describedby': hintId })}
      {hint && (
        <p id={hintId} className="text-xs text-soft">
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps {
  label: string;
  hint?: ReactNode;
  value: string;
  onChange: (value: string) => void;
}

/** An amount of money, as the service takes one. @param example an amount, shown where another one is refused */
export function UsdField({ label, hint, value, onChange, example = '2.50' }: TextFieldProps & { example?: string }) {
  return (
    <Field label={label} hint={hint}>
      {(props) => (
        <input
          {...props}
          inputMode="decimal"
          pattern="\d{1,9}(\.\d{1,8})?"
          title={`An amount such as ${example}`}
          className="field tabular w-full"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}

interface NoteFieldProps extends TextFieldProps {
  rows?: number;
  /** Characters. */
  maxLength?: number;
}

/** A text of some lines that somebody writes in passing. */
export function NoteField({ label, hint, value, onChange, rows = 3, maxLength = 10_000 }: NoteFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(props) => (
        <textarea
          {...props}
          rows={rows}
          maxLength={maxLength}
          className="field w-full py-1.5"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
