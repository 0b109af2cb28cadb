// Uploads a document in a test.
import type { TestEngine } from '../../../engine/testing/engine.ts';

export async function upload({ engine, identity }: TestEngine, name: string, fileType: string, text: string): Promise<void> {
  async function* bytes() {
    yield Buffer.from(text);
  }
  async function* parts() {
    yield { name, fileType, bytes: bytes() };
  }
  const transfer = { kind: 'upload', parts: parts(), limitBytes: 1_000_000 } as const;
  await engine.execute({ identity, op: 'insert', resourceName: 'documents', custom: false, parameters: {}, transfer });
}
