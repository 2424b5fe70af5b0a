/** Binds each contract to a use case, one line apiece. Anything longer belongs in the service. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import * as views from './views/contract.ts';
import type { RunService } from './service.ts';
import type { RunViews } from './views/service.ts';

interface RunServices {
  runs: RunService;
  runViews: RunViews;
}

export const runRoutes = ({ runs, runViews }: RunServices): readonly Route[] => [
  handle(contract.dispatchRun, ({ caller, body, claim }) => runs.create(caller, body, claim)),
  handle(contract.getRun, ({ caller, params }) => runs.detail(caller, params.run_id)),
  handle(contract.createRun, ({ caller, body, claim }) => runs.create(caller, body, claim)),
  handle(contract.listRuns, ({ caller, query: { since_hours, ...query } }) =>
    runs.list(caller, { ...query, sinceHours: since_hours }),
  ),
  handle(views.searchRuns, ({ caller, query: { limit, before, ...filters } }) =>
    runViews.search(caller, filters, { limit, before }),
  ),
  handle(views.countRuns, ({ caller, query }) => runViews.counts(caller, query.agent)),
  handle(views.summarizeFailures, ({ caller, query }) => runViews.failures(caller, query)),
  handle(views.showRun, ({ caller, params }) => runViews.show(caller, params.run_id)),
  handle(views.getRunTimeline, ({ caller, params, query }) => runViews.timeline(caller, params.run_id, query)),
  handle(views.getRunTranscript, ({ caller, params, query }) => runViews.transcript(caller, params.run_id, query)),
  handle(contract.listRunEvents, ({ caller, params, query }) => runs.events(caller, params.run_id, query.limit)),
  handle(contract.getRunDetail, ({ caller, params }) => runs.detail(caller, params.run_id)),
  handle(contract.cancelRun, ({ caller, params }) => runs.cancel(caller, params.run_id)),
  handle(contract.retryRun, ({ caller, params }) => runs.retry(caller, params.run_id)),
  handle(contract.getRunStats, ({ caller }) => runs.stats(caller)),
  handle(contract.getRunCosts, ({ caller, query }) => runs.costs(caller, query.window)),
  handle(contract.getRunContext, ({ caller, params }) => runs.context(caller, params.run_id)),
  handle(contract.getRunContextContent, ({ caller, params, query }) =>
    runs.contextContent(caller, params.run_id, query.before_byte),
  ),
];
