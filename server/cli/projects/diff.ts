// `cascade diff DIR`: what an import would change. `+` is only in the folder, `-` only in the namespace, `~` in both and not the same.
import { openRemote, type RemoteOptions } from '../remote.ts';
import type { Terminal } from '../terminal.ts';
import { agrees, canonical, documentName, JSON_FOLDERS, type Members, programName, PROGRAMS } from './layout.ts';
import { digestOf, filesOf, isJson, type LocalFile, readObject, readText } from './local.ts';
import { digestAt, listed } from './present.ts';

export async function diffProject(root: string, options: RemoteOptions, terminal: Terminal): Promise<number> {
  const files = await filesOf(root, (line) => terminal.err(`${line}\n`));
  const remote = await openRemote(options);
  const lines: string[] = [];
  const compare = (folder: string, here: ReadonlyMap<string, string>, there: ReadonlyMap<string, string>): void => {
    const isJsonFolder = JSON_FOLDERS.includes(folder);
    for (const name of [...new Set([...here.keys(), ...there.keys()])].sort()) {
      const [local, present] = [here.get(name), there.get(name)];
      if (local === undefined || !(local === present || (isJsonFolder && agrees(local, present))))
        lines.push(`${present === undefined ? '+' : local === undefined ? '-' : '~'} ${folder}/${name.replace(/^\//, '')}`);
    }
  };
  for (const folder of JSON_FOLDERS) {
    const here = new Map<string, string>();
    for (const file of files.filter((one) => one.folder === folder && isJson(one))) {
      const object = await readObject(file.file);
      here.set(String(object['name']), canonical(object));
    }
    compare(folder, here, new Map((await listed(remote, folder)).map((object) => [String(object['name']), canonical(object)])));
  }
  for (const folder of PROGRAMS) compare(folder, await textsIn(files, folder), textsOf(await listed(remote, folder)));
  const here = new Map<string, string>();
  for (const { path, file } of files.filter((one) => one.folder === 'documents')) here.set(documentName(path), await digestOf(file));
  const there = new Map<string, string>();
  for (const { name } of await listed(remote, 'documents')) there.set(String(name), (await digestAt(remote, String(name))) ?? '');
  compare('documents', here, there);
  for (const line of lines) terminal.out(`${line}\n`);
  return lines.length === 0 ? 0 : 1;
}

async function textsIn(files: readonly LocalFile[], folder: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const one of files) {
    if (one.folder !== folder || one.path.endsWith('.json')) continue;
    const text = await readText(one.file);
    texts.set(programName(text) ?? one.path, text);
  }
  return texts;
}

const textsOf = (objects: readonly Members[]): Map<string, string> =>
  new Map(
    objects.map((object) => {
      const text = String(object['ruleText']);
      return [programName(text) ?? String(object['name']), text];
    }),
  );
