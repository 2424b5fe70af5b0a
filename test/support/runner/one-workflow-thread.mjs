/**
 * Lets all workers of a process that have the same workflows run them in one thread, which stays for the next test file.
 * The SDK starts one for each worker, which loads the SDK and the bundle anew: half of what it takes to start a service.
 * Each workflow has an environment of its own in it, as in a worker of the product.
 */
import { createRequire } from 'node:module';

const { ThreadedVMWorkflowCreator } = createRequire(import.meta.url)('@temporalio/worker/lib/workflow/threaded-vm');
const startThreads = ThreadedVMWorkflowCreator.create.bind(ThreadedVMWorkflowCreator);
/** By the code of the workflows, and by what else a thread is told when it begins. */
const kept = new Map();

ThreadedVMWorkflowCreator.create = async (options) => {
  if (options.patchActivationCallback) return startThreads(options);
  const { workflowBundle, registeredActivityNames, isolateExecutionTimeoutMs, reuseV8Context, threadPoolSize } =
    options;
  const told = JSON.stringify([
    ...[isolateExecutionTimeoutMs, reuseV8Context, threadPoolSize],
    ...[...registeredActivityNames].sort(),
  ]);
  const ofCode = kept.get(workflowBundle.code) ?? new Map();
  kept.set(workflowBundle.code, ofCode);
  let starting = ofCode.get(told);
  if (!starting || (await starting).workerThreadClients.some(hasEnded)) {
    starting = startThreads(options);
    ofCode.set(told, starting);
    starting.catch(() => ofCode.delete(told));
  }
  const threads = await starting;
  const { workerThreadClients } = threads;
  // They are there for whoever comes next, and are no reason for the process to go on.
  for (const { workerThread } of workerThreadClients) workerThread.unref();
  return {
    workerThreadClients,
    createWorkflow: (given) => threads.createWorkflow(given),
    destroy: async () => {},
  };
};

const hasEnded = ({ workerExited, exitError }) => workerExited || exitError !== undefined;
