const light = `--page:#f7f8fa;--surface:#fff;--line:#e3e6eb;--edge:#c9ced7;--text:#16191f;--soft:#545c6b;--accent:#4a40d4;
--good:#0d7242;--plain:#59616f;--doubtful:#8a5200;--bad:#b4231c;--other:#4a40d4;
--good-bar:#2e9e68;--plain-bar:#9aa3b2;--doubtful-bar:#e0a030;--bad-bar:#d9473f;--other-bar:#4a40d4`;
const dark = `--page:#0f1115;--surface:#14171c;--line:#262b34;--edge:#3d4450;--text:#e8eaee;--soft:#9ba3b0;--accent:#a5a3ff;
--good:#5fd098;--plain:#a6aebb;--doubtful:#e9b45c;--bad:#ff8f87;--other:#a5a3ff;
--good-bar:#3fae77;--plain-bar:#6b7483;--doubtful-bar:#c48f35;--bad-bar:#e2625a;--other-bar:#a5a3ff`;

const tones = ['good', 'plain', 'doubtful', 'bad', 'other'];

/** On a screen by its light, on paper always dark on white, with nothing hidden or scrolled. A chart that is scrolled shows its end first. */
export const reportStyle = `
:root{color-scheme:light dark;${light}}
@media screen and (prefers-color-scheme:dark){:root{${dark}}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:14px/1.45 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1080px;margin:0 auto;padding:32px 24px 64px}
h1{margin:0;font-size:26px;letter-spacing:-.01em}
h2{margin:0 0 12px;font-size:16px}
p{margin:0}
section{margin-top:24px;padding:18px 20px;border:1px solid var(--line);border-radius:10px;background:var(--surface)}
.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:4px 18px;margin:14px 0 0}
.facts dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
.notice{margin-top:18px;padding:10px 14px;border-left:3px solid var(--doubtful);background:var(--surface);color:var(--text)}
.figures{display:flex;flex-wrap:wrap;gap:14px 40px;margin:0}
.figures dt{color:var(--soft);font-size:13px}
.figures dd{font-size:24px;font-weight:600}
.figures small{color:var(--soft);font-size:13px;font-weight:400}
.wide{overflow-x:auto}
.wide:focus-visible,summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
table{width:100%;border-collapse:collapse}
th,td{padding:5px 10px 5px 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;overflow-wrap:break-word}
td{max-width:18em}
tr:last-child>*{border-bottom:0}
thead th{color:var(--soft);font-size:12.5px;font-weight:500;white-space:nowrap}
tbody th{font-weight:400}
.number{text-align:right;white-space:nowrap;overflow-wrap:normal}
.line{white-space:nowrap}
.bars th[scope=row]{width:28%;min-width:110px}
.bars .graph{width:45%;min-width:90px;padding-right:0;vertical-align:middle}
.soft,.note{color:var(--soft)}
.note{margin-top:10px;font-size:13px}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;margin:0 0 10px;padding:0;list-style:none;color:var(--soft);font-size:13px}
svg{display:block}
.bar{width:100%;height:10px}
.wide:has(.plot){direction:rtl}
.plot{direction:ltr;width:100%;min-width:640px;height:auto}
.plot text{fill:var(--soft);font-size:12px}
.plot line{stroke:var(--line)}
.unknown{fill:var(--line)}
.mark{display:inline-block;width:10px;height:10px;margin-right:6px}
.verdict{font-weight:550;white-space:nowrap}
${tones.map((tone) => `.${tone}{color:var(--${tone})}\nrect.${tone}{fill:var(--${tone}-bar)}`).join('\n')}
details{margin-top:10px}
summary{width:max-content;color:var(--soft);cursor:pointer}
footer{margin-top:28px;color:var(--soft);font-size:13px}
@page{margin:14mm}
@media print{
:root{--page:#fff}
body{font-size:10pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}
main{max-width:none;padding:0}
section{padding:0 0 4px;border:0;margin-top:18px}
thead{display:table-header-group}
.wide table{font-size:8.5pt}
.wide td{min-width:4em}
th,td{overflow-wrap:anywhere}
.verdict{white-space:normal}
tr,.figures div{break-inside:avoid}
h2{break-after:avoid}
.wide{overflow:visible}
.plot{min-width:0}
details::details-content{content-visibility:visible;display:block;height:auto}
details>summary{display:none}
}
`;
