#pragma once
#ifndef TOLLGATE_WEB_DETAIL_PLAIN_THEME_STYLE_HPP
#define TOLLGATE_WEB_DETAIL_PLAIN_THEME_STYLE_HPP

#include <string_view>

namespace tollgate::inline v0::detail {

/// The style sheet of all pages: light and dark by the system's setting, contrast at least 4.5 to 1 for text and 3 to
/// 1 for borders of controls.
inline constexpr std::string_view plain_style_sheet = R"(:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f6f8fa; --line: #dde3ea; --edge: #7c8896; --ink: #17202a; --quiet: #55616e;
  --accent: #0a5a9c; --accent-deep: #07457a; --on-accent: #ffffff;
  --danger: #a61b29; --danger-deep: #82131f; --on-danger: #ffffff; --danger-paper: #fdf3f3;
  --good: #0b6b46; --good-paper: #eff8f3; --care: #805300; --care-paper: #fdf7e9;
  --shadow: 0 .5rem 1.5rem rgb(20 30 40 / 16%);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #11161c; --panel: #191f27; --line: #2d3742; --edge: #717e8c; --ink: #e4e9ef; --quiet: #a3afbb;
    --accent: #7fbdf5; --accent-deep: #a9d3fa; --on-accent: #0a1c2e;
    --danger: #ff9aa2; --danger-deep: #ffbcc1; --on-danger: #2c0a0d; --danger-paper: #2a181b;
    --good: #6fd3a5; --good-paper: #12241d; --care: #e8bd6b; --care-paper: #272013;
    --shadow: 0 .5rem 1.5rem rgb(0 0 0 / 55%);
  }
}
*, ::before, ::after { box-sizing: border-box; }
[hidden] { display: none !important; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1.5rem; }
body { margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: break-word;
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
h1, h2 { line-height: 1.25; letter-spacing: -.015em; text-wrap: balance; overflow-wrap: anywhere; }
h1 { font-size: 1.85rem; margin: 0 0 .6rem; }
h2 { font-size: 1.25rem; margin: 0 0 1rem; }
p { margin: 0 0 1rem; max-width: 42rem; text-wrap: pretty; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: .18em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .25rem; }
code { font-family: var(--mono); font-size: .875em;
  overflow-wrap: anywhere; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; padding: .5rem 1rem; background: var(--paper); z-index: 2; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.quiet, .optional { color: var(--quiet); font-weight: 400; }

body > header { background: var(--panel); border-bottom: 1px solid var(--line); }
.bar, body > nav, main { max-width: 66rem; margin-inline: auto; padding-inline: 1.5rem; }
.bar { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1.5rem; min-height: 3.75rem;
  padding-block: .6rem; }
.logo { height: 1.5em; width: auto; max-width: 8rem; vertical-align: -.4em; margin-right: .5rem; }
.name { color: var(--ink); font-weight: 650; letter-spacing: -.01em; text-decoration: none; padding-block: .2rem; }
.name:hover { text-decoration: underline; }
.who { display: flex; flex-wrap: wrap; align-items: center; gap: .35rem 1rem; font-size: .925rem; color: var(--quiet); min-width: 0; }
.who > a { padding-block: .1rem; }
.who > span { overflow-wrap: anywhere; }
.who form { margin: 0; }
body > nav { border-bottom: 1px solid var(--line); max-width: none; padding-inline: max(1.5rem, (100% - 63rem) / 2); }
body > nav ul { display: flex; flex-wrap: wrap; gap: 0 .25rem; list-style: none; margin: 0 -.8rem; padding: 0; }
body > nav a { display: block; padding: .8rem; color: var(--quiet); text-decoration: none; white-space: nowrap; }
body > nav a:hover { color: var(--ink); }
body > nav a:focus-visible { outline-offset: -3px; }
body > nav a[aria-current] { color: var(--ink); font-weight: 600; box-shadow: inset 0 -3px var(--accent); }
body > footer { border-top: 1px solid var(--line); }
.site-links, .languages { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; max-width: 66rem; margin: 0 auto;
  padding: 1rem 1.5rem 2rem; font-size: .925rem; }
.site-links:not(:last-child) { padding-bottom: 0; }
.site-links a, .languages a { display: block; padding-block: .25rem; color: var(--quiet); }
.languages a[aria-current] { color: var(--ink); text-decoration: none; font-weight: 600; }
main { padding-block: 2.25rem 4rem; min-height: 60vh; }
.narrow main { max-width: 33rem; padding-block: clamp(2rem, 8vh, 6rem) 4rem; }

.heading { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1.5rem;
  margin-bottom: .6rem; }
.heading h1, .heading h2 { margin: 0; }
.lead { color: var(--quiet); margin-bottom: 2rem; }
.lead:has(> .state), dd:has(> form) { display: flex; flex-wrap: wrap; align-items: center; gap: .35rem .5rem; }
.nothing { border: 1px dashed var(--edge); border-radius: .6rem; padding: 1.5rem; color: var(--quiet); max-width: none;
  margin-bottom: 2.5rem; }
.notice, .faults, .caution { border-left: .3rem solid var(--good); border-radius: .25rem; background: var(--good-paper);
  padding: .8rem 1.1rem; margin: 0 0 1.75rem; max-width: 42rem; }
.faults { border-color: var(--danger); background: var(--danger-paper); }
.faults h2 { font-size: 1.05rem; margin: 0 0 .25rem; }
.faults ul { margin: 0; padding: 0; list-style: none; }
.faults a { display: inline-block; color: var(--danger); }
.caution { border-color: var(--care); background: var(--care-paper); }
.hint + .caution { margin-top: 1.25rem; }

button, .button { display: inline-block; font: inherit; font-weight: 600; line-height: 1.4; text-decoration: none; cursor: pointer;
  border: 1px solid transparent; border-radius: .5rem; padding: .55rem 1.1rem; background: var(--accent); color: var(--on-accent);
  max-width: 100%; overflow-wrap: anywhere; }
button:hover, .button:hover { background: var(--accent-deep); }
button.quiet, .button.quiet { background: var(--paper); border-color: var(--edge); color: var(--ink); font-weight: 500; }
button.quiet:hover, .button.quiet:hover { background: var(--panel); border-color: var(--ink); }
button.link { padding: .1rem .2rem; border: 0; background: none; color: var(--accent); font-weight: 400; text-decoration: underline;
  text-decoration-thickness: 1px; text-underline-offset: .18em; }
button.link:hover { text-decoration-thickness: 2px; }
header button.quiet { padding: .25rem .75rem; font-size: .925rem; }
button.quiet.removal { color: var(--danger); }
button.quiet.removal:hover { border-color: var(--danger); background: var(--danger-paper); }
button.danger { background: var(--danger); color: var(--on-danger); }
button.danger:hover { background: var(--danger-deep); }

.form { border: 1px solid var(--line); border-radius: .75rem; background: var(--panel); padding: 1.75rem; margin-top: 2.5rem; }
.form > form { max-width: 34rem; }
.field { margin: 0 0 1.4rem; padding: 0; border: 0; min-width: 0; max-width: 34rem; }
.field > label, legend { display: block; font-weight: 600; margin-bottom: .3rem; padding: 0; }
.hint { color: var(--quiet); font-size: .925rem; line-height: 1.5; margin: -.1rem 0 .4rem; }
.fault { color: var(--danger); margin: 0 0 .4rem; }
.faulty { border-left: .3rem solid var(--danger); padding-left: .9rem; }
input:not([type=checkbox]), select, textarea { display: block; width: 100%; min-width: 0; font: inherit; line-height: 1.4;
  color: var(--ink);
  background: var(--paper); border: 1px solid var(--edge); border-radius: .5rem; padding: .55rem .75rem; }
input:focus-visible, select:focus-visible, textarea:focus-visible { outline-offset: 0; border-radius: .5rem; }
.faulty input:not([type=checkbox]), .faulty select, .faulty textarea { border-color: var(--danger); }
.choice { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .75rem; align-items: start; padding: .35rem 0; }
.choice input { width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--accent); }
.choice code { display: block; color: var(--quiet); }
.copyable { display: flex; gap: .6rem; align-items: start; }
.copyable > textarea { flex: 1; }
textarea.copied { field-sizing: content; resize: none; overflow-wrap: anywhere;
  font-family: var(--mono);
  font-size: .925rem; user-select: all; }
.chooser { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin-bottom: 2rem; }
.chooser p, .chooser label { width: 100%; margin: 0; }
.chooser label { font-weight: 600; }
.chooser select { width: auto; max-width: 100%; }

.scopes { list-style: none; margin: 0; padding: 0; }
.scopes li { padding-left: 1.5rem; position: relative; }
.scopes li::before { content: ""; position: absolute; left: .2rem; top: .35em; width: .35rem; height: .65rem; border: solid var(--good);
  border-width: 0 2px 2px 0; transform: rotate(45deg); }
.scopes li + li { margin-top: .2rem; }
.scopes code { color: var(--quiet); margin-left: .35rem; }
main > .scopes { margin: 0 0 1.25rem; }
main > .scopes li + li { margin-top: .5rem; }
main > .scopes code { display: block; margin: 0; }
.narrow form h2 { margin-top: 2rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1.5rem 0 1rem; }
strong.code { display: block; font: 600 1.5rem/1.6 var(--mono); letter-spacing: .08em; }
.as { margin: 1.5rem 0 0; padding-top: 1.25rem; border-top: 1px solid var(--line); }
blockquote { margin: 0 0 1rem; padding: .1rem 0 .1rem 1rem; border-left: .2rem solid var(--line); color: var(--quiet);
  overflow-wrap: anywhere; }

.usage { display: block; width: 8rem; height: .4rem; border-radius: .2rem; margin-top: .35rem; }
.usage .used { fill: var(--accent); }
.usage .up { fill: var(--danger); }
.requests { margin-bottom: 2.5rem; }
.requests .usage { width: 100%; max-width: 26rem; height: .6rem; border-radius: .3rem; margin-bottom: .6rem; }
.balance { color: var(--ink); font-size: 1.35rem; letter-spacing: -.01em; }
.links { display: flex; flex-wrap: wrap; gap: .35rem 1.5rem; margin: -1.25rem 0 2.5rem; }
.nothing + .links { margin-top: -1.5rem; }
.account { font-size: 1.1rem; margin: 2.25rem 0 .75rem; }
table { width: 100%; border-collapse: collapse; margin-bottom: 2.5rem; font-size: .95rem; line-height: 1.5; }
th, td { text-align: left; vertical-align: top; padding: .75rem 1.25rem .75rem 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--quiet); font-size: .85rem; font-weight: 600; padding-block: 0 .5rem; white-space: nowrap; }
tbody th { font-weight: 600; overflow-wrap: anywhere; min-width: 10rem; }
td { overflow-wrap: break-word; }
td.actions { padding-block: .5rem; padding-right: 0; text-align: right; white-space: nowrap; }
td.actions a { display: inline-block; padding-block: .25rem; }
table + .quiet { margin: -1.75rem 0 2.5rem; }
time { white-space: nowrap; text-decoration: none; }

.items { list-style: none; margin: 0 0 2.5rem; padding: 0; border: 1px solid var(--line); border-radius: .75rem; }
.items > li { padding: 1.1rem 1.25rem 1.2rem; }
.items > li + li { border-top: 1px solid var(--line); }
.top { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: start; gap: .6rem 1.5rem; }
.what { flex: 1 1 18rem; min-width: 0; overflow-wrap: anywhere; }
.what h2, .what h3 { font-size: 1.05rem; line-height: 1.4; margin: 0; letter-spacing: 0; }
.what p { margin: .15rem 0 0; font-size: .925rem; color: var(--quiet); }
div.actions { display: flex; flex-wrap: wrap; align-items: start; gap: .4rem; }
div.actions > button, .actions > .button, td.actions button, dd > form button,
.heading form button { padding: .25rem .75rem; font-size: .9rem; }
dl { display: flex; flex-wrap: wrap; gap: .75rem 2.25rem; margin: .9rem 0 0; font-size: .925rem; }
dl > div { min-width: 0; max-width: 100%; }
dl > .long { flex-basis: 100%; }
dt { color: var(--quiet); font-size: .85rem; line-height: 1.4; margin-bottom: .1rem; }
dd { margin: 0; overflow-wrap: anywhere; }
dd ul { margin: 0; padding: 0; list-style: none; }
dd form { margin: 0; }
.confirm { width: 26rem; max-width: calc(100vw - 2rem); padding: 1.4rem 1.5rem 1.2rem; color: var(--ink); background: var(--paper);
  border: 1px solid var(--edge); border-radius: .75rem; box-shadow: var(--shadow); overflow-wrap: anywhere; }
body:has(.confirm:popover-open) :is(a, button, input, select, textarea, summary, [tabindex]):not(.confirm *) { interactivity: inert; }
.confirm::backdrop { background: rgb(10 20 30 / 45%); }
.confirm:not([popover]) { width: auto; max-width: 26rem; box-shadow: none; }
.confirm form { margin: 0; }
.confirm .buttons { margin: 1.25rem 0 0; }

.state { display: inline-block; font-size: .85rem; font-weight: 600; line-height: 1.4; white-space: nowrap; border-radius: 1rem;
  padding: .1rem .65rem; border: 1px solid var(--edge); color: var(--quiet); }
.state.good { border-color: var(--good); color: var(--good); background: var(--good-paper); }
.state.care { border-color: var(--care); color: var(--care); background: var(--care-paper); }
.state.bad { border-color: var(--danger); color: var(--danger); background: var(--danger-paper); }
.caution form, .heading form { margin: 0; }
summary { cursor: pointer; }
.deliveries time { white-space: normal; }
.caution.bad { border-color: var(--danger); background: var(--danger-paper); }
.caution.bad > :last-child, .faults > p { margin: 0; }
.deliveries { list-style: none; margin: 0; padding: 0; }
.deliveries > li { border: 1px solid var(--line); border-radius: .75rem; padding: 1rem 1.25rem; margin-bottom: 1rem; }
.deliveries .heading { margin-bottom: .25rem; }
.deliveries h2 { display: flex; flex-wrap: wrap; align-items: center; gap: .35rem .75rem; font-size: 1.05rem; margin: 0; }
.deliveries p { font-size: .925rem; margin: 0; max-width: none; overflow-wrap: anywhere; }
.attempts { list-style: none; margin: .6rem 0 0; padding: 0; border-top: 1px solid var(--line); }
.attempts li { padding: .45rem 0; border-bottom: 1px solid var(--line); font-size: .95rem; }
.attempts li:last-child { border-bottom: 0; padding-bottom: 0; }
.attempts li > p { font-size: inherit; padding-left: 1.25rem; }
.attempt > summary { list-style: disclosure-closed outside; margin-left: 1.25rem; }
.attempt > summary:hover { text-decoration: underline; }
.attempt[open] > summary { list-style-type: disclosure-open; }
.ending { font-weight: 600; }
.attempt > .hint { margin: .5rem 0 .3rem 1.25rem; }
.hook-actions, .hook-actions form, .filter ul { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; margin: 0; }
.hook-actions { justify-content: space-between; margin-bottom: 1.5rem; }
.hook-actions form { gap: .5rem; }
.hook-actions select { width: auto; padding: .2rem .5rem; font-size: .9rem; }
.hook-actions label, .hook-actions button { font-size: .9rem; }
.hook-actions button { padding: .2rem .7rem; }
.filter ul { list-style: none; padding: 0; margin-bottom: 1rem; }
.filter a { display: block; min-width: 1.5rem; padding: .25rem .1rem; text-align: center; }
.filter a[aria-current] { color: var(--ink); font-weight: 600; text-decoration: none; border-bottom: 2px solid var(--accent); }
.exchange { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 0 1rem; }
.exchange > div { min-width: 0; }
.exchange .hint { margin: .5rem 0 .3rem 1.25rem; }
pre { font-family: var(--mono);
  font-size: .85rem; line-height: 1.5; margin: 0 0 .5rem 1.25rem; padding: .75rem 1rem; border-radius: .5rem;
  background: var(--panel); white-space: pre-wrap;
  overflow-wrap: anywhere; }

@media (min-width: 60rem) {
  td { min-width: 8rem; }
}
@media (max-width: 44rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr, th, td { display: block; }
  tr { border: 1px solid var(--line); border-radius: .75rem; padding: .9rem 1.1rem; margin-bottom: .75rem; }
  th, td { border: 0; padding: .15rem 0; min-width: 0; }
  tbody th { padding-top: 0; min-width: 0; }
  td[data-label] { display: grid; grid-template-columns: 6rem minmax(0, 1fr); gap: .75rem; }
  td[data-label]::before { content: attr(data-label); color: var(--quiet); }
  td.actions { text-align: left; padding-top: .4rem; }
  td time { white-space: normal; }
  td:empty { display: none; }
}
@media (max-width: 30rem) {
  h1 { font-size: 1.6rem; }
  main { padding-block: 1.5rem 3rem; }
  .bar, main, .site-links, .languages { padding-inline: 1.1rem; }
  .bar { gap: .1rem .75rem; }
  .name { flex: 1; }
  .who { display: contents; }
  .who > span { flex: 1 1 50%; }
  body > nav { padding: .5rem 1.1rem; }
  body > nav ul { margin-inline: -.7rem; }
  body > nav a { padding: .3rem .7rem; border-radius: .5rem; }
  body > nav a[aria-current] { background: var(--panel); box-shadow: none; color: var(--accent); }
  .form { padding: 1.25rem 1.1rem; }
  .items > li { padding-inline: 1.1rem; }
  .copyable { flex-direction: column; }
  .copyable > textarea { flex: none; }
  .copied.long { min-height: 4.2rem; }
  .buttons > * { flex: 1 1 auto; text-align: center; }
}
@media (max-width: 21rem) {
  td[data-label] { grid-template-columns: 1fr; gap: 0; }
}
@media (forced-colors: active) {
  body > nav a[aria-current] { text-decoration: underline; text-decoration-thickness: 3px; }
  .scopes li::before { border-color: CanvasText; }
  .faulty, .notice, .faults, .caution { border-left-color: CanvasText; }
}
@media print {
  nav, .skip, div.actions, td.actions, .form, .heading .button, .heading form, .hook-actions, header form, footer { display: none; }
}
)";

/// The default icon.
inline constexpr std::string_view plain_icon =
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='#0a5a9c'/>"
    "<path d='M4 4h8v2H9v6H7V6H4z' fill='#fff'/></svg>";

}  // namespace tollgate::detail

#endif  // TOLLGATE_WEB_DETAIL_PLAIN_THEME_STYLE_HPP
