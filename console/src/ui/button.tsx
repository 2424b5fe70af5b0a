/** A button. A link that looks like a button takes the class of `linkButton`. */
import type { ComponentProps } from 'react';
import { cx } from './cx.ts';
import { Icon, type IconName } from './icon.tsx';

type Look = 'plain' | 'primary' | 'danger' | 'ghost';

const LOOKS: Record<Look, string> = {
  plain: 'border-line bg-surface hover:bg-raised',
  primary: 'border-accent bg-accent text-on-accent hover:opacity-90',
  danger: 'border-line bg-surface text-bad hover:bg-raised',
  ghost: 'border-transparent text-soft hover:bg-raised hover:text-ink',
};

export const buttonClass = (look: Look = 'plain', extra?: string): string =>
  cx(
    'inline-flex min-h-8 items-center justify-center gap-1.5 rounded-md border px-3 font-medium whitespace-nowrap transition-colors',
    'pointer-coarse:min-h-11 disabled:opacity-55',
    LOOKS[look],
    extra,
  );

interface ButtonProps extends ComponentProps<'button'> {
  look?: Look;
  icon?: IconName;
  isBusy?: boolean;
}

export function Button({ look, icon, isBusy = false, className, children, disabled, ...props }: ButtonProps) {
  const shown = isBusy ? 'spinner' : icon;
  return (
    <button type="button" className={buttonClass(look, className)} disabled={disabled || isBusy} {...props}>
      {shown && <Icon name={shown} />}
      {children}
    </button>
  );
}

/** A button with an icon alone. Its label is shown on hover and read by screen readers. */
export function IconButton({
  label,
  icon,
  className,
  ...props
}: Omit<ButtonProps, 'look'> & { label: string; icon: IconName }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={cx(
        'inline-flex size-8 items-center justify-center rounded-md text-soft transition-colors hover:bg-raised hover:text-ink pointer-coarse:size-11',
        className,
      )}
      {...props}
    >
      <Icon name={icon} />
    </button>
  );
}
