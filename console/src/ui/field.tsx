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
