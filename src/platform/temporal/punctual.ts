/**
 * Calls that are not made any more once somebody was told that they failed. The SDK's connection repeats a refused call for
 * ten seconds, whatever its deadline, so that what a route had answered with a 502 came true when Temporal was there again.
 * Each request says that it is to be repeated; here it is made to say that it is not, and repeated until the deadline.
 */
import { defaultGrpcRetryOptions, isGrpcServiceError, type WorkflowClientInterceptor } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { present } from '../core/present.ts';

/** What the SDK hands to its native part: the call, and how it is made. */
interface NativeRequest {
  retry: boolean;
  /** In milliseconds, of one attempt: what is left until the deadline. Null where there is none. */
  timeout: number | null;
}
type Send = (request: NativeRequest) => Promise<unknown>;
type SendRequest = (this: unknown, send: Send, ...call: unknown[]) => void;

const eagerStart = new AsyncLocalStorage<true>();

/**
 * Leaves eager starts to the SDK: its native part hands their first task to a worker only where it repeats the call itself.
 * What is started so looks for its row first, and ends where a route has withdrawn it.
 */
export const unpunctualEagerStarts: WorkflowClientInterceptor = {
  startWithDetails(input, next) {
    return input.options.requestEagerStart ? eagerStart.run(true, () => next(input)) : next(input);
  },
};

/** The SDK's native part repeats after these: their codes are those of gRPC. */
const PASSING = new Set([
  1 /* cancelled, which is also what a connection says that breaks */, 2 /* unknown */, 8 /* exhausted */,
  10 /* aborted */, 11 /* out of range */, 13 /* internal */, 14 /* unavailable */, 15 /* data loss */,
]);
const { delayFunction } = defaultGrpcRetryOptions();

async function sendWithin(send: Send, request: NativeRequest, limitMs: number): Promise<unknown> {
  const until = Date.now() + limitMs;
  for (let attempt = 1; ; attempt += 1) {
    const timeout = until - Date.now();
    if (timeout <= 0) throw Object.assign(new Error('the deadline was over before the call was made'), { code: 4 });
    try {
      return await send({ ...request, retry: false, timeout });
    } catch (error) {
      if (!isGrpcServiceError(error) || !PASSING.has(error.code)) throw error;
      const pauseMs = delayFunction(attempt, error);
      if (Date.now() + pauseMs >= until) throw error;
      await sleep(pauseMs);
    }
  }
}

/** What is asked of it under a deadline (`withDeadline`) is not sent any more when that is over, but for eager starts. */
export class PunctualConnection extends NativeConnection {
  static {
    // Private to the SDK, whose constructor takes it from the class of what it makes.
    const sendRequest = present<SendRequest>(Reflect.get(this.prototype, 'sendRequest'), 'what sends requests');
    const punctual: SendRequest = function (send, ...call) {
      const isEager = eagerStart.getStore();
      const sendOn: Send = (request) =>
        request.timeout === null || isEager ? send(request) : sendWithin(send, request, request.timeout);
      sendRequest.call(this, sendOn, ...call);
    };
    Object.defineProperty(this.prototype, 'sendRequest', { value: punctual });
  }
}
