/* The order of search results: chapters before lists and the library reference; of equals, the one that comes first. */
const CHAPTERS = [
  "frames",
  "velocity",
  "acceleration",
  "newton_euler",
  "newton_euler_spatial",
  "lagrange",
  "structure",
  "motion",
  "closed_chains",
  "closed_chains_dynamics",
  "linkages",
  "your_own_arm",
];
var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    const place = CHAPTERS.indexOf(docname.replace("book/", ""));
    if (place >= 0) return score + (CHAPTERS.length - place) / 100;
    if (/^(book\/api|genindex|py-modindex)/.test(docname)) return score - 100;
    if (/^book\/(equations|errata|bibliography|conventions)/.test(docname)) return score - 50;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
