// Projects: named sets of resources, for import and export.
import type { Feature } from '../../resources/catalog/index.ts';
import { COMMANDS } from './commands.ts';
import { PROJECTS } from './projects-kind.ts';

export const projects: Feature = { name: 'projects', kinds: [PROJECTS], commands: COMMANDS };
