#pragma once
#ifndef TOLLGATE_MANUAL_DETAIL_STYLE_HPP
#define TOLLGATE_MANUAL_DETAIL_STYLE_HPP

#include <string_view>

namespace tollgate::inline v0::manual {

/// The style sheet of all pages: light and dark as the reader's system is, every text with a contrast of 4.5 to 1 or more.
inline constexpr std::string_view style_sheet = R"(:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f5f7fa; --line: #dbe1e8; --ink: #17202a; --quiet: #56626f; --accent: #0a5a9c;
  --get: #0b6b46; --post: #0a5a9c; --delete: #a61b29; --change: #805300;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #11161c; --panel: #1a212a; --line: #2f3944; --ink: #e4e9ef; --quiet: #a0acb9; --accent: #7fbdf5;
    --get: #6fd3a5; --post: #7fbdf5; --delete: #ff9aa2; --change: #e8bd6b;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.65 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: .18em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; padding: .5rem 1rem; background: var(--paper); z-index: 1; }

body > header { border-bottom: 1px solid var(--line); background: var(--panel); }
body > header > div, .columns { max-width: 74rem; margin: 0 auto; padding: 0 1.5rem; }
body > header > div { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1rem; padding-block: .9rem; }
.name { color: var(--ink); font-weight: 650; text-decoration: none; letter-spacing: -.01em; }
.address { color: var(--quiet); font-size: .875rem; overflow-wrap: anywhere; }
nav ul { display: flex; flex-wrap: wrap; gap: .15rem; list-style: none; margin: 0 -.7rem; padding: 1rem 0 0; }
nav li { margin: 0; }
nav a { display: block; padding: .3rem .7rem; border-radius: .4rem; color: var(--ink); text-decoration: none; }
nav a:hover { background: var(--panel); }
nav a[aria-current] { background: var(--panel); color: var(--accent); font-weight: 600; }
main { min-width: 0; padding: 1rem 0 3rem; }
body > footer { border-top: 1px solid var(--line); color: var(--quiet); font-size: .875rem; }
body > footer p { max-width: 74rem; margin: 0 auto; padding: 1.25rem 1.5rem; }
@media (min-width: 56rem) {
  .columns { display: grid; grid-template-columns: 12rem minmax(0, 1fr); gap: 3.5rem; }
  nav ul { flex-direction: column; position: sticky; top: 0; padding-top: 2.6rem; margin-right: 0; }
  main { padding-top: 1.6rem; }
}

h1, h2, h3 { line-height: 1.25; letter-spacing: -.015em; text-wrap: balance; }
h1 { font-size: 2rem; margin: .6rem 0 .8rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .7rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, ul, ol, dl { margin: 0 0 1rem; max-width: 44rem; }
li { margin: .25rem 0; }
.lead { font-size: 1.15rem; color: var(--quiet); }
code, pre { font-family: var(--mono); font-size: .875em; }
code { background: var(--panel); border-radius: .25rem; padding: .1em .3em; overflow-wrap: anywhere; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; padding: .9rem 1rem; margin: 0 0 1.2rem;
  overflow-x: auto; line-height: 1.55; }
pre code { background: none; padding: 0; font-size: inherit; overflow-wrap: normal; }
pre.answer { background: none; }
pre + pre.answer { margin-top: -.5rem; }

.table { overflow-x: auto; margin: 0 0 1.4rem; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem 1rem .5rem 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--quiet); font-weight: 600; font-size: .85rem; }
tbody th { font-weight: 600; }
td > code { white-space: nowrap; }
dl.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .4rem 1.5rem; }
dl.facts dt { color: var(--quiet); }
dl.facts dd { margin: 0; }
ul.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(15rem, 100%), 1fr)); gap: .9rem; max-width: none; padding: 0;
  list-style: none; }
ul.cards a { display: block; height: 100%; padding: .9rem 1rem; border: 1px solid var(--line); border-radius: .6rem;
  color: var(--ink); text-decoration: none; }
ul.cards a:hover { border-color: var(--accent); }
ul.cards strong { display: block; color: var(--accent); }
ul.cards span { color: var(--quiet); font-size: .925rem; }

.operation { border-top: 1px solid var(--line); margin-top: 2.4rem; }
.operation h2 { margin: 1.6rem 0 .5rem; font-size: 1.1rem; font-weight: 600; display: flex; flex-wrap: wrap; gap: .6rem;
                align-items: baseline; }
.operation h2 code { background: none; padding: 0; font-size: 1em; }
.method { font: 700 .75rem/1.6 var(--mono); border: 1px solid; border-radius: .3rem;
  padding: 0 .4rem; letter-spacing: .03em; }
.method.get { color: var(--get); }
.method.post { color: var(--post); }
.method.delete { color: var(--delete); }
.method.put, .method.patch { color: var(--change); }
@media (max-width: 44rem) {
  pre { white-space: pre-wrap; }
  pre code { overflow-wrap: anywhere; }
  td code { white-space: normal; }
  td:first-child { min-width: 6rem; }
}
@media (max-width: 30rem) {
  body > header > div, .columns { padding-inline: 1.1rem; }
  th, td { padding-right: .6rem; }
  dl.facts { display: block; }
  dl.facts dd { margin-bottom: .6rem; }
}
@media print {
  nav, .skip { display: none; }
  .columns { display: block; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
}
)";

}  // namespace tollgate::manual

#endif  // TOLLGATE_MANUAL_DETAIL_STYLE_HPP
