/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { JobService } from './service.ts';

export const jobRoutes = ({ jobs }: { jobs: JobService }): readonly Route[] => [
  handle(contract.listJobs, ({ caller }) => jobs.list(caller)),
  handle(contract.createJob, ({ caller, body }) => jobs.create(caller, body)),
  handle(contract.updateJob, ({ caller, params, body }) => jobs.update(caller, params.job_id, body)),
  handle(contract.deleteJob, ({ caller, params }) => jobs.delete(caller, params.job_id)),
  handle(contract.listJobAttachments, ({ caller, params }) => jobs.listAttachments(caller, params.job_id)),
  handle(contract.uploadJobAttachments, ({ caller, params, receiveFiles }) =>
    jobs.uploadAttachments(caller, params.job_id, receiveFiles),
  ),
];
