// Commands that import, export and compare projects, over REST and WebSocket. The id `*` means all resources of the namespace.
import { apiError } from '../../model/errors/index.ts';
import { toJsonInPieces } from '../../model/values/index.ts';
import { finishInSlices } from '../../platform/structures/index.ts';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import type { Command, Namespace } from '../../resources/catalog/index.ts';
import { requireKnown, objectOf, reply } from '../../resources/requests/index.ts';
import { chosenBy, diffProject, exportProject } from './export-project.ts';
import { importProject, ImportRefused } from './import-project.ts';

const KNOWN = ['files'];

/** Thousands of files are a text of megabytes. */
const written = (space: Namespace, value: Value): Promise<string> => finishInSlices(space.name, toJsonInPieces(value));

/** Imports all files or none. @returns what was changed; 400 with the errors of each file where one could not be imported */
const importFiles: Command = async (space, id, { object }, actor) => {
  if (id !== '*') throw apiError('cascade.operation.unknown', 'import');
  requireKnown('projects', objectOf(object ?? null), KNOWN);
  try {
    return reply(await written(space, (await importProject(space, object ?? null, actor)) as unknown as ObjectValue));
  } catch (error) {
    if (!(error instanceof ImportRefused)) throw error;
    return { status: error.status, body: await written(space, error.errors as unknown as ObjectValue[]) };
  }
};

const exportFiles: Command = async (space, id, { object }, actor) => {
  const chosen = chosenBy(space, id, actor);
  requireKnown('projects', objectOf(object ?? null), []);
  return reply(await written(space, { files: await exportProject(space, chosen, actor) }));
};

const diffFiles: Command = async (space, id, { object }, actor) => {
  const chosen = chosenBy(space, id, actor);
  requireKnown('projects', objectOf(object ?? null), KNOWN);
  return reply(await written(space, (await diffProject(space, chosen, object ?? null, actor)) as unknown as ObjectValue[]));
};

export const COMMANDS = { projects: { import: importFiles, export: exportFiles, diff: diffFiles } };
