/**
 * Makes workflows of the tests keep no call stacks (`node --import`). The Temporal SDK takes one for each promise that
 * a workflow makes, for the tab "Call Stack" of the Web UI, which was a third of the work of a workflow's thread.
 */
import v8 from 'node:v8';

v8.promiseHooks.createHook = () => () => {};
