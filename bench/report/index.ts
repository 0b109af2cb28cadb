// The door of report/: figures, runs of benchmarks that are kept, and how both are told.
export { type Aim, type Figure, itself, machine, median, progress, timesAsMuch, toText } from './figure.ts';
export { htmlOf } from './page.ts';
export { compareRuns, readRun, type Run } from './runs.ts';
export { performanceTable, readmeTable, withTable } from './told.ts';
