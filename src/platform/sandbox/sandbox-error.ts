/** A sandboxed program that failed, was ended or was refused, in words for who wrote it or called it. */
export class SandboxError extends Error {}
