/** Words of recorded samples that every place which shows one uses. */
export const SAMPLE_NOTE = 'Sample content, recorded. No model was called.';
