/** Shows a label, a control, and a hint below the control. */
import { useId, type ReactNode } from 'react';

interface FieldProps {
  label: string;
  hint?: ReactNode;
  isRequired?: boolean;
  /** Draws the control, to which these properties belong. */
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

/**
 * A field for an amount of money, in the form that the service takes.
 * @param example is an amount that is shown where another one is refused
 */
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
  /** The greatest number of characters. */
  maxLength?: number;
}

/** A field for a short text of several lines. */
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
