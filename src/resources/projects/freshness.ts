/**
 * Decides whether a phase is up to date: by what its steps consumed, and by what its upstream phases have now. Pure.
 */
import { isDone, isInFlight, type Consumed, type TaskStatus } from './model.ts';

/** A phase that another one depends on. */
export interface Upstream {
  slug: string;
  status: TaskStatus;
  /** The current version of its artifact; null where it has none. */
  version: number | null;
  /** The version that its next run makes; null where it makes none. */
  nextVersion: number | null;
}

export interface Provenance {
  upstream: Upstream[];
  /** What each step and each gate of the phase has consumed. */
  given: Consumed[];
  /** Counts as consumed too, because a change was to leave the phase as it is. */
  sparedFor: Consumed;
}

type Version = Consumed[string];

/**
 * @returns whether the phase was made from something else than what its upstream phases have now, or are about to have:
 * another version, one that became stale since, or one of a phase that runs again
 */
export const isOutdated = ({ upstream, given, sparedFor }: Provenance): boolean =>
  upstream.some(
    (each) =>
      !isSpared(each, sparedFor[each.slug]) &&
      (!isDone(each.status) || given.some((consumed) => !isCurrent(each, consumed[each.slug]))),
  );

const isCurrent = ({ version, status }: Upstream, had: Version | undefined): boolean =>
  version === (had?.version ?? null) && (status !== 'stale' || had?.isStale === true);

/** A phase was spared for one version. Any other that comes later counts. */
const isSpared = (upstream: Upstream, spared: Version | undefined): boolean =>
  spared !== undefined &&
  (isDone(upstream.status) ? isCurrent(upstream, spared) : spared.version === upstream.nextVersion);

/**
 * Adds a change to what counts as consumed by a phase that the change is to leave as it is. A phase that an earlier
 * change has outdated already stays so.
 * @param phase is as it was before the change
 * @param changed says by slug what the change makes of phases
 */
export function sparedWith(phase: Provenance, changed: ReadonlyMap<string, Version>): Consumed {
  const spared = { ...phase.sparedFor };
  for (const each of phase.upstream) {
    const version = changed.get(each.slug);
    if (version && !isOutdated({ ...phase, upstream: [each] })) spared[each.slug] = version;
  }
  return spared;
}

type Reached = Pick<Upstream, 'slug' | 'status' | 'version' | 'nextVersion'>;

/** @returns what a phase will have that a change runs again */
export const whenRunAgain = ({ nextVersion }: Reached): Version => ({ version: nextVersion, isStale: false });

/** @returns what a phase will have that a change makes stale; one under way ends with a new version, and stale */
export const whenStale = ({ status, version, nextVersion }: Reached): Version => ({
  version: isInFlight(status) ? nextVersion : version,
  isStale: true,
});
