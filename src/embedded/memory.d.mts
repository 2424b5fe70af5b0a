/** In bytes. */
export const LEAST_MEMORY: number;
/** The bytes that all processes of the service may take together. */
export const memoryLimit: () => number;
/** Memory is worth more than speed here. */
export const isMemoryLittle: () => boolean;
export const inMB: (bytes: number) => string;
/** One line on a process that was killed, with what to do. */
export const killedLine: (what: string) => string;
