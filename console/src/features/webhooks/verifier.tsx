/** Shows, in four languages, how a receiver verifies that a request comes from the service. */
import { useState } from 'react';
import { Command } from '../../ui/copy.tsx';
import { SNIPPETS } from './snippets.ts';

export function Verifier() {
  const [language, setLanguage] = useState<keyof typeof SNIPPETS>('Node');
  return (
    <details className="card">
      <summary className="min-h-9 px-3 py-2 text-sm text-soft pointer-coarse:min-h-11">Verify the signature</summary>
      <div className="space-y-2 border-t p-3">
        <label className="flex items-center gap-2 text-sm">
          Language
          <select
            className="field"
            value={language}
            onChange={({ target }) => setLanguage(target.value as keyof typeof SNIPPETS)}
          >
            {Object.keys(SNIPPETS).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <Command label={`verifier in ${language}`} text={SNIPPETS[language]} />
      </div>
    </details>
  );
}
