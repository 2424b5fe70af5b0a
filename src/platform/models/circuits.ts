/**
 * Remembers which providers are out, so that not each call has to find out by itself. It is what this process has seen:
 * nothing is shared, and it is forgotten with the process.
 */
import type { Log } from '../core/log.ts';
import { fieldsOf } from '../core/record.ts';
import { isWithoutProvider, ModelFailure, type ModelCredentials, type ResolvedModel } from './types.ts';

type Asked = Pick<ResolvedModel, 'provider'>;

/** So many calls in a row without an answer. */
const FAILURES = 5;
/** Then it is left alone for so long, and after that one call tries it. */
const OPEN_MS = 30_000;

/** An address of somebody's own is told from the provider's, and from those of others. */
const keyOf = ({ provider }: Asked, credentials: ModelCredentials): string => {
  const { baseUrl } = isWithoutProvider(provider) ? {} : fieldsOf(credentials[provider]);
  return typeof baseUrl === 'string' ? `${provider} ${baseUrl}` : provider;
};

export function createCircuits(log: Log, now: () => number = () => performance.now()) {
  const failing = new Map<string, { failures: number; openUntil: number }>();
  const isOpen = (key: string) => (failing.get(key)?.failures ?? 0) >= FAILURES;

  return {
    /** Makes the call, and remembers whether the provider answered. What it answered is the caller's business. */
    async watch<T>(asked: Asked, credentials: ModelCredentials, call: () => Promise<T>): Promise<T> {
      const key = keyOf(asked, credentials);
      const answered = () => {
        if (isOpen(key)) log.info({ provider: asked.provider }, 'a model provider answers again');
        failing.delete(key);
      };
      try {
        const reply = await call();
        answered();
        return reply;
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        if (!isNoAnswer(error)) answered();
        else {
          const failures = (failing.get(key)?.failures ?? 0) + 1;
          failing.set(key, { failures, openUntil: now() + OPEN_MS });
          if (failures === FAILURES)
            log.warn({ provider: asked.provider, err: error }, 'a model provider does not answer');
        }
        throw error;
      }
    },

    /** Asking may make the caller the one that tries it. */
    isOut(asked: Asked, credentials: ModelCredentials): boolean {
      const key = keyOf(asked, credentials);
      const circuit = failing.get(key);
      if (!circuit || !isOpen(key)) return false;
      if (now() < circuit.openUntil) return true;
      circuit.openUntil = now() + OPEN_MS;
      return false;
    },

    /** @returns whether it is out, without being the one that tries it */
    looksOut: (asked: Asked, credentials: ModelCredentials): boolean => isOpen(keyOf(asked, credentials)),
  };
}

/** A limit of the rate is an answer. */
const isNoAnswer = ({ code, retryable }: ModelFailure): boolean =>
  retryable && (code === 'model_unavailable' || code === 'model_timeout');
