/** A box that narrows a list while it is typed. `/` goes to it. */
import { useEffect, useState } from 'react';
import { Icon } from './icon.tsx';

interface SearchBoxProps {
  label: string;
  placeholder: string;
  text: string;
  /** Is called when nothing was typed for a moment. */
  onChange: (text: string) => void;
}

export function SearchBox({ label, placeholder, text, onChange }: SearchBoxProps) {
  const [written, setWritten] = useState(text);
  const [from, setFrom] = useState(text);
  if (from !== text) {
    // The address changed by another way than this box: by Back, a link or Clear.
    setFrom(text);
    setWritten(text);
  }
  useEffect(() => {
    if (written === text) return undefined;
    const timer = setTimeout(() => {
      setFrom(written);
      onChange(written);
    }, 250);
    return () => clearTimeout(timer);
  }, [written, text, onChange]);
  return (
    <label className="relative min-w-48 flex-1">
      <span className="sr-only">{label}</span>
      <Icon name="search" className="absolute top-1/2 left-2.5 -translate-y-1/2 text-soft" />
      <input
        data-search
        type="search"
        className="field w-full pl-8"
        placeholder={placeholder}
        value={written}
        onChange={({ target }) => setWritten(target.value)}
      />
    </label>
  );
}
