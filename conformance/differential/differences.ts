// Where a service finds other instances than the plain filter, or in another order.
import { type Json, JsonNumber, type JsonObject, parseJson, type RestClient, toJsonText } from '../client/index.ts';
import { compare, meets, type Plain } from './plain-filter.ts';
import { Dice, type Instance, KINDS, randomInstance, randomQuestion, SORTED } from './random-questions.ts';

const INSTANCES = 60;
/** Requests of a batch. */
const TOGETHER = 100;
const TYPE = 'Differential';

/** @returns what differs, one text each; at most ten */
export async function differences(client: RestClient, seed: number, questions: number): Promise<string[]> {
  const dice = new Dice(seed);
  const properties: JsonObject = { n: { type: 'Integer' } };
  for (const [name, { definition }] of Object.entries(KINDS)) properties[name] = definition;
  await sent(client, '/types', { name: TYPE, properties });
  const instances = Array.from({ length: INSTANCES }, (_, n) => randomInstance(dice, n));
  await sent(
    client,
    `/custom/${TYPE}`,
    instances.map(({ body }) => body),
  );
  const found: string[] = [];
  for (let asked = 0; asked < questions && found.length < 10; asked += TOGETHER) {
    const batch = Array.from({ length: TOGETHER }, () => ask(dice, instances));
    const answers = (await sent(
      client,
      '/api/v1/batch',
      batch.map(({ request }) => request),
    )) as JsonObject[];
    for (const [index, { question, wanted }] of batch.entries()) {
      const got = shown(answers[index] as JsonObject);
      if (got !== wanted) found.push(`${question}\n  wanted ${wanted}\n  got    ${got}`);
    }
  }
  return found.slice(0, 10);
}

/** A question as a request of a batch, and the answer it is to have: the count and the numbers of the rows. */
function ask(dice: Dice, instances: readonly Instance[]): { request: JsonObject; question: string; wanted: string } {
  const { where, plan } = randomQuestion(dice);
  const all = instances.flatMap(({ row }, n) => (meets(row, plan) ? [n] : []));
  const by = dice.below(3) === 0 ? dice.of(SORTED) : null;
  const direction = dice.below(2) === 0 ? 1 : -1;
  const rows = by === null ? all : all.sort((a, b) => direction * inOrder(instances[a]?.row[by], instances[b]?.row[by]) || a - b);
  const [page, limit] = dice.below(4) === 0 ? [1 + dice.below(3), 1 + dice.below(20)] : [1, 1_000];
  const parameters = [`props=["n"]&count=true&page=${page}&limit=${limit}`, ...(by === null ? [] : [`sort={"${by}":${direction}}`])];
  return {
    request: { method: 'POST', uri: `/custom/${TYPE}/select?${encodeURI(parameters.join('&'))}`, body: where },
    question: `${toJsonText(where)} ${parameters.join(' ')}`,
    wanted: `200 ${all.length}: ${rows.slice((page - 1) * limit, page * limit).join(' ')}`,
  };
}

/** Null and missing come first. */
const inOrder = (a: Plain | undefined, b: Plain | undefined): number =>
  a == null || b == null ? Number(a != null) - Number(b != null) : (compare(a, b) ?? 0);

function shown({ status, headers, body }: JsonObject): string {
  const code = status instanceof JsonNumber ? status.text : '';
  if (code !== '200') return `${code} ${toJsonText(body ?? null)}`;
  const rows = (body as JsonObject[]).map(({ n }) => (n instanceof JsonNumber ? n.text : '?'));
  return `${code} ${String((headers as JsonObject)['X-Total-Count'])}: ${rows.join(' ')}`;
}

async function sent(client: RestClient, path: string, body: Json): Promise<Json> {
  const reply = await client.send('POST', path, { body });
  if (reply.status !== 200 || reply.headers['x-partial-result'] !== undefined)
    throw new Error(`${path}: ${reply.status} ${reply.text.slice(0, 2000)}`);
  return parseJson(reply.text);
}
