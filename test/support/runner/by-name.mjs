/** Is a `testSequencer` for Jest that runs files in the order of their names, on which a test can rely. */
export default class ByName {
  sort = (tests) => [...tests].sort((a, b) => (a.path < b.path ? -1 : 1));
  shard = (tests) => tests;
  cacheResults() {}
}
