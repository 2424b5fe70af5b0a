/** Asks what becomes of the phases that come after a changed one. */
const CASCADES = [
  ['lazy', 'Mark what comes after it as stale'],
  ['strict', 'Run what comes after it again too'],
  ['none', 'Leave what comes after it as it is'],
] as const;
export type Cascade = (typeof CASCADES)[number][0];

export function CascadeField({ value, onChange }: { value: Cascade; onChange: (cascade: Cascade) => void }) {
  return (
    <fieldset className="space-y-1">
      <legend className="pb-1 font-medium">What comes after it</legend>
      {CASCADES.map(([each, label]) => (
        <label key={each} className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
          <input type="radio" name="cascade" checked={value === each} onChange={() => onChange(each)} />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
