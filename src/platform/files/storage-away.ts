/** Tells why a bucket takes or gives no files now. The same call may work later. */
import { causesOf } from '../core/causes.ts';
import { Problem } from '../core/problem.ts';
import { fieldsOf } from '../core/record.ts';

/** Tenants read these with the health of the deployment: they have no address, no credential and no word of the storage. */
const FAULTS = {
  unreachable: 'cannot be reached',
  silent: 'does not answer',
  missing: 'the bucket does not exist',
  forbidden: 'the bucket refuses the credential',
  full: 'the bucket is full',
  failing: 'fails: the log of the service says more',
} as const;
type StorageFault = keyof typeof FAULTS;

/** The storage answers for sure that it has stored nothing. */
const STORES_NOTHING: readonly StorageFault[] = ['missing', 'forbidden', 'full'];

/** The storage has taken a request, or none, and did not answer it in time. */
export class StorageSilent extends Error {
  constructor() {
    super('the storage did not answer in time');
    this.name = 'StorageSilent';
  }
}

export class StorageUnavailable extends Problem {
  /** What operators are told. */
  readonly said: string;
  /** The file may be there all the same, or arrive later. */
  readonly mayHaveWritten: boolean;

  /** @param isWrite says that the storage may have been given the bytes */
  constructor(bucket: string, cause: unknown, isWrite: boolean) {
    const fault = faultOf(cause);
    super('storage_unavailable', undefined, new Error(`FILES_S3_BUCKET ${bucket}: ${FAULTS[fault]}`, { cause }));
    this.name = 'StorageUnavailable';
    this.said = FAULTS[fault];
    this.mayHaveWritten = isWrite && !STORES_NOTHING.includes(fault);
  }
}

export const isStorageAway = (error: unknown): boolean =>
  [...causesOf(error)].some((each) => each instanceof StorageUnavailable);

/** Storages have names of their own for a bucket without room. */
const FULL = /^(InsufficientStorage|QuotaExceeded|XMinioStorageFull|XMinioAdminBucketQuotaExceeded)$/;
const UNREACHABLE = /^(ECONN\w+|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE)$/;

function faultOf(error: unknown): StorageFault {
  for (const each of causesOf(error)) {
    const { name } = each;
    const { code } = fieldsOf(each);
    const status = fieldsOf(fieldsOf(each).$metadata).httpStatusCode;
    if (each instanceof StorageSilent) return 'silent';
    if (name === 'NoSuchBucket') return 'missing';
    if (FULL.test(name) || status === 507) return 'full';
    if (status === 401 || status === 403 || name === 'CredentialsProviderError') return 'forbidden';
    if (typeof code === 'string' && UNREACHABLE.test(code)) return 'unreachable';
  }
  return 'failing';
}
