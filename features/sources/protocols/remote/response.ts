// Converts an HTTP answer to the result that a program gets (integrations.md 2.5). Pure.
import { type ObjectValue, setOwn, type Value } from '../../../../stdlib/values/index.ts';
import { decodeContent, mediaType } from '../../content/index.ts';
import type { HttpAnswer } from '../../http/index.ts';
import type { PlannedRequest } from './request.ts';

const MEDIA_TYPE = /^[^\s/;]+\/[^\s/;]+$/;

/** The content type of an answer: `responseType`, else its own, else that of the request. */
export function typeOfAnswer(
  answer: HttpAnswer,
  { responseType, contentType }: Pick<PlannedRequest, 'responseType' | 'contentType'>,
): string {
  if (responseType !== null) return responseType;
  const said = [answer.headers['content-type'] ?? []].flat()[0];
  return said !== undefined && MEDIA_TYPE.test(mediaType(said)) ? said : contentType;
}

/** @throws ContentError */
export async function bodyOfAnswer(owner: string, answer: HttpAnswer, plan: PlannedRequest): Promise<Value> {
  if (answer.status === 204 || answer.body.length === 0) return null;
  return decodeContent(owner, typeOfAnswer(answer, plan), answer.body);
}

export const textOfAnswer = ({ body }: HttpAnswer): string => body.toString('utf8');

export function headersOfAnswer({ headers }: HttpAnswer): ObjectValue {
  const shown: ObjectValue = {};
  for (const [name, value] of Object.entries(headers)) setOwn(shown, name, value);
  return shown;
}

export function fullResponse(answer: HttpAnswer, body: Value): ObjectValue {
  const cookies = [answer.headers['set-cookie'] ?? []].flat();
  return { status: answer.status, headers: headersOfAnswer(answer), cookies, body };
}
