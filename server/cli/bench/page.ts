// A self-contained HTML page: no script, and no style or picture from elsewhere; colours follow the reader's scheme. Texts are escaped
// here.
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => ENTITIES[one] as string);

const STYLE = `:root{color-scheme:light dark;--ink:#1c2024;--soft:#60646c;--line:#d9d9e0;--page:#fff;--good:#18794e;--bad:#ce2c31;
--c0:#0b68cb;--c1:#c2410c;--c2:#18794e;--c3:#8e4ec6;--c4:#b45309;--c5:#be185d}
@media(prefers-color-scheme:dark){:root{--ink:#edeef0;--soft:#b0b4ba;--line:#363a3f;--page:#111113;--good:#3dd68c;--bad:#ff9592;
--c0:#70b8ff;--c1:#ffa057;--c2:#3dd68c;--c3:#d19dff;--c4:#ffca16;--c5:#ff8dcc}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:60rem;margin:0 auto;padding:2rem 1rem}
h1{font-size:1.6rem;margin:0}h2{font-size:1.15rem;margin:2.5rem 0 .5rem}p{margin:.25rem 0;color:var(--soft)}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}
th,td{padding:.3rem .75rem .3rem 0;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--soft);font-weight:500}th:first-child,td:first-child,.two th:nth-child(2),.two td:nth-child(2){text-align:left}

.two th:first-child,.two td:first-child,.two th:nth-child(2),.two td:nth-child(2){white-space:normal}
.better{color:var(--good)}.worse{color:var(--bad);font-weight:600}svg{width:100%;max-width:46rem;height:auto;display:block}
svg text{font-size:12px;fill:var(--soft)}.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(24rem,1fr));gap:1.5rem}
@media(max-width:30rem){.charts{grid-template-columns:1fr}}figure{margin:0}figcaption{font-weight:500}`;

/** @param parts HTML */
export const pageOf = (title: string, parts: readonly string[]): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body>${parts.join('\n')}</body></html>
`;

/** @param title text @param content HTML */
export const section = (title: string, content: string): string => `<section><h2>${escapeHtml(title)}</h2>${content}</section>`;

/** @param svg of `chart` */
export const picture = (caption: string, svg: string): string => `<figure><figcaption>${escapeHtml(caption)}</figcaption>${svg}</figure>`;

export function table(head: readonly string[], rows: readonly (readonly string[])[], kind = ''): string {
  const cells = (row: readonly string[], tag: 'th' | 'td'): string =>
    row.map((cell) => `<${tag}${cell === 'better' || cell === 'worse' ? ` class="${cell}"` : ''}>${escapeHtml(cell)}</${tag}>`).join('');
  const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('');
  return `<div class="wide"><table class="${kind}"><thead><tr>${cells(head, 'th')}</tr></thead><tbody>${body}</tbody></table></div>`;
}

export const paragraphs = (texts: readonly string[]): string => texts.map((text) => `<p>${escapeHtml(text)}</p>`).join('');
