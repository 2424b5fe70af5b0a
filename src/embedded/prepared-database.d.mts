/** @returns the directory, which set-up may not have made */
export function preparedDatabase(): string;
